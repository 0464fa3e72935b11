// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotCall

/// The sum of the recorded voices. Voices arrive at different times, so the last seconds stay in memory. For one thread at a time.
struct RecordingMix {
    let track: RecordingTrack
    private let window: AudioBuffer  // a ring: frame n is at n modulo its capacity
    private var start = 0  // the first frame in the window
    private var limiter: PeakLimiter

    /// - Parameter format: has the sample rate and the channels of the voices.
    init(_ track: RecordingTrack, format: AudioFormat) {
        self.track = track
        window = AudioBuffer(channelCount: format.channelCount, frameCapacity: Int(4 * format.sampleRate))
        limiter = PeakLimiter(sampleRate: format.sampleRate)
    }

    /// Adds frames of a voice. Frames that were written before are ignored.
    /// - Parameters:
    ///   - gain: the factor at the first frame.
    ///   - goal: the factor that is reached after the last frame.
    mutating func add(_ samples: Channels, frameCount: Int, at frame: Int, gain: Float, to goal: Float) {
        if frame + frameCount > start + window.frameCapacity { write(to: frame + frameCount - window.frameCapacity) }
        let step = frameCount > 0 ? (goal - gain) / Float(frameCount) : 0
        var done = max(0, start - frame)
        while done < frameCount {
            let index = (frame + done) % window.frameCapacity
            let count = min(frameCount - done, window.frameCapacity - index)
            for c in 0..<window.channels.count {
                addSamples(
                    window.channels[c] + index, samples[c] + done, count, gain: gain + step * Float(done), step: step)
            }
            done += count
        }
    }

    /// Writes the frames before `end`, without exceeding full scale.
    mutating func write(to end: Int) {
        while start < end {
            let index = start % window.frameCapacity
            let count = min(end - start, window.frameCapacity - index, 4_096)
            var block = ShiftedChannels(window.channels, by: index)
            block.withChannels { block in
                limiter.process(block, count)
                track.write(block, frameCount: count, at: start, missing: .device)
                for c in 0..<block.count { clearSamples(block[c], count) }
            }
            start += count
        }
    }
}

/// Channels that begin at a later frame of others.
private struct ShiftedChannels {
    private var pointers: [UnsafeMutablePointer<Float>]

    init(_ channels: Channels, by offset: Int) { pointers = (0..<channels.count).map { channels[$0] + offset } }

    mutating func withChannels(_ body: (Channels) -> Void) {
        pointers.withUnsafeMutableBufferPointer { pointers in
            guard let base = pointers.baseAddress else { return }
            body(Channels(base, count: pointers.count))
        }
    }
}
