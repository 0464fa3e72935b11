// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// A sound at the rate of ``SameRoomDetector``, of which the last part is kept. For one thread at a time.
final class SlowTrack {
    /// The input frames that are converted at once.
    private static let blockFrames = 1_024

    /// The device's frame of sample 0.
    let origin: Double
    /// The device's frames that were added.
    private(set) var frameCount = 0
    private(set) var samples: [Float] = []
    /// The number of the first kept sample.
    private(set) var firstIndex = 0
    private var resampler: Resampler
    private let output: AudioBuffer

    init(origin: Double, sampleRate: Double) {
        self.origin = origin
        resampler = Resampler(
            from: sampleRate, to: SameRoomDetector.sampleRate, channelCount: 1, maximumFrameCount: Self.blockFrames)
        output = AudioBuffer(channelCount: 1, frameCapacity: Self.blockFrames)
    }

    /// The number of the sample after the last one.
    var endIndex: Int { firstIndex + samples.count }

    func append(_ added: [Float]) {
        frameCount += added.count
        var first = 0
        while first < added.count {
            let count = min(Self.blockFrames, resampler.inputRoom, added.count - first)
            for i in 0..<count { resampler.input[0][resampler.inputOffset + i] = added[first + i] }
            first += count
            let converted = min(Self.blockFrames, resampler.outputAvailable(afterAdding: count))
            resampler.render(output.channels, frameCount: converted, adding: count)
            samples += UnsafeBufferPointer(start: output.channels[0], count: converted)
        }
    }

    /// Returns samples by their numbers, all of which are kept.
    func slice(_ range: Range<Int>) -> ArraySlice<Float> {
        samples[range.lowerBound - firstIndex..<range.upperBound - firstIndex]
    }

    func discard(before index: Int) {
        let count = max(0, min(samples.count, index - firstIndex))
        samples.removeFirst(count)
        firstIndex += count
    }
}
