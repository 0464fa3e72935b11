// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotCall

/// The sum of the recorded voices. Voices arrive at different times, so the last seconds stay in memory. For one thread at a time.
struct RecordingMix {
    let track: RecordingTrack
    private let window: AudioBuffer  // a ring: frame n is at n modulo its capacity
    private let block: AudioBuffer
    private var start = 0  // the first frame in the window
    private var limiter: PeakLimiter

    /// - Parameter format: the format of the voices.
    init(_ track: RecordingTrack, format: AudioFormat) {
        self.track = track
        window = AudioBuffer(channelCount: format.channelCount, frameCapacity: Int(4 * format.sampleRate))
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096)
        limiter = PeakLimiter(sampleRate: format.sampleRate)
    }

    /// Adds frames of a voice. Ignores frames that were written before.
    /// - Parameters:
    ///   - offset: the first frame of `samples` to add.
    ///   - frame: the frame of the timeline.
    ///   - gain: the factor at the first frame.
    ///   - targetGain: the factor after the last frame.
    mutating func add(
        _ samples: Channels, frameCount: Int, offset: Int, at frame: Int, gain: Float, to targetGain: Float
    ) {
        if frame + frameCount > start + window.frameCapacity { write(to: frame + frameCount - window.frameCapacity) }
        let step = frameCount > 0 ? (targetGain - gain) / Float(frameCount) : 0
        var addedCount = max(0, start - frame)
        while addedCount < frameCount {
            let index = (frame + addedCount) % window.frameCapacity
            let count = min(frameCount - addedCount, window.frameCapacity - index)
            for c in 0..<window.channels.count {
                addSamples(
                    window.channels[c] + index, samples[c] + offset + addedCount, count,
                    gain: gain + step * Float(addedCount), step: step)
            }
            addedCount += count
        }
    }

    /// Writes the frames before `end`, without exceeding full scale.
    mutating func write(to end: Int) {
        while start < end {
            let index = start % window.frameCapacity
            let count = min(end - start, window.frameCapacity - index, block.frameCapacity)
            for c in 0..<block.channels.count {
                copySamples(block.channels[c], window.channels[c] + index, count)
                clearSamples(window.channels[c] + index, count)
            }
            limiter.process(block.channels, count)
            track.write(block.channels, frameCount: count, at: start, missing: .device)
            start += count
        }
    }
}
