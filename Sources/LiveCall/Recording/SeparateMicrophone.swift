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
    private var nextFrame: Int?
    private var expectedSampleTime: Int64 = .min

    /// Seconds to correct a constant position error.
    private static let correctionTime = 2.0
    /// Position error in seconds from which a gap is assumed.
    private static let gap = 0.05

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        resampler = Resampler(
            from: sampleRate, to: sampleRate, channelCount: channelCount, maximumFrameCount: IOCycle.maximumFrameCount)
        output = AudioBuffer(channelCount: channelCount, frameCapacity: 2 * IOCycle.maximumFrameCount)
    }

    /// Converts a block. Frames that the microphone skipped before the block are missing on the timeline too.
    /// - Parameters:
    ///   - cycle: the block's time on the microphone's counter.
    ///   - position: the frame of the timeline at the block's first frame, by its host time.
    /// - Returns: the converted frames, the frame of the timeline of the first of them, and the microphone's frames from it to the
    ///   block's first frame.
    func convert(
        _ sound: ReadOnlyChannels, _ cycle: CallCycle, at position: Double
    ) -> (sound: ReadOnlyChannels, frameCount: Int, frame: Int, heldFrames: Double) {
        var error = position - resampler.heldFrames - Double(nextFrame ?? 0)
        if nextFrame == nil || cycle.sampleTime != expectedSampleTime || abs(error) > Self.gap * sampleRate {
            resampler.reset()
            nextFrame = Int((position - resampler.heldFrames).rounded())
            error = 0
        }
        expectedSampleTime = cycle.sampleTime + Int64(cycle.frameCount)
        let frame = nextFrame ?? 0
        let heldFrames = resampler.heldFrames
        // More output for each input frame moves the sound back to its place.
        resampler.step = 1 - max(-0.001, min(0.001, error / (Self.correctionTime * sampleRate)))
        for c in 0..<output.channels.count {
            copySamples(resampler.input[c] + resampler.inputOffset, sound[c], cycle.frameCount)
        }
        let count = resampler.outputAvailable(afterAdding: cycle.frameCount)
        resampler.render(output.channels, frameCount: count, adding: cycle.frameCount)
        nextFrame = frame + count
        return (ReadOnlyChannels(output.channels), count, frame, heldFrames)
    }
}
