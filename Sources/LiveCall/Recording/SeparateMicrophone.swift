// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotCall

/// Converts the sound of a microphone with its own clock to the frames of the playing device, so that it stays in its place on the
/// recording's timeline. For one thread at a time.
final class SeparateMicrophone {
    private var resampler: Resampler
    private let sampleRate: Double
    private let output: AudioBuffer
    /// The next frame of the timeline; nil before the first block.
    private var next: Int?

    /// The seconds in which an error of the place would be corrected, if it stayed the same.
    private static let correctionTime = 2.0
    /// The seconds of an error that is a gap.
    private static let gap = 0.05

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        resampler = Resampler(
            from: sampleRate, to: sampleRate, channelCount: channelCount, maximumFrameCount: IOCycle.maximumFrameCount)
        output = AudioBuffer(channelCount: channelCount, frameCapacity: 2 * IOCycle.maximumFrameCount)
    }

    /// Converts a block.
    /// - Parameter place: the frame of the timeline at the block's first frame, by its host time.
    /// - Returns: the converted frames and the frame of the timeline of the first of them.
    func convert(
        _ sound: ReadOnlyChannels, frameCount: Int, at place: Double
    ) -> (sound: Channels, frameCount: Int, frame: Int) {
        var error = place - resampler.heldFrames - Double(next ?? 0)
        if next == nil || abs(error) > Self.gap * sampleRate {
            resampler.reset()
            next = Int((place - resampler.heldFrames).rounded())
            error = 0
        }
        let frame = next ?? 0
        // Further output for each input frame moves the sound back to its place.
        resampler.step = 1 - max(-0.001, min(0.001, error / (Self.correctionTime * sampleRate)))
        for c in 0..<output.channels.count {
            copySamples(resampler.input[c] + resampler.inputOffset, sound[c], frameCount)
        }
        let count = resampler.outputAvailable(afterAdding: frameCount)
        resampler.render(output.channels, frameCount: count, adding: frameCount)
        next = frame + count
        return (output.channels, count, frame)
    }
}
