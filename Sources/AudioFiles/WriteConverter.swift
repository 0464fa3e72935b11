// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Converts frames to a file's sample rate. For one thread at a time.
struct WriteConverter {
    private let converter: RateConverter
    private let silence: AudioBuffer
    private let converted: AudioBuffer
    private let rates: (from: Double, to: Double)
    private var consumedFrameCount = 0
    private var producedFrameCount = 0
    private static let blockFrames = 2048

    init(from format: AudioFormat, to rate: Double) {
        converter = RateConverter(from: format.sampleRate, to: rate, channelCount: format.channelCount)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        converted = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        rates = (format.sampleRate, rate)
    }

    /// The frames that the last call produced.
    var output: Channels { converted.channels }

    /// Converts frames until all are consumed or ``output`` is full.
    /// - Returns: the number of frames consumed, and the number of frames in ``output``.
    mutating func convert(_ channels: Channels, _ frames: Int, _ offset: Int) -> (consumed: Int, produced: Int) {
        let step = converter.convert(
            channels, frameCount: frames, inputOffset: offset, into: converted.channels, frameCapacity: Self.blockFrames
        )
        consumedFrameCount += step.consumed
        producedFrameCount += step.produced
        return step
    }

    /// Pushes out the remaining frames, one piece at a time.
    /// - Returns: the number of frames in ``output``, 0 at the end.
    mutating func finish() -> Int {
        let total = RateConverter.frameCount(consumedFrameCount, from: rates.from, to: rates.to)
        while producedFrameCount < total {
            let (_, produced) = converter.convert(
                silence.channels, frameCount: Self.blockFrames, into: converted.channels,
                frameCapacity: min(Self.blockFrames, total - producedFrameCount))
            producedFrameCount += produced
            if produced > 0 { return produced }
        }
        return 0
    }
}
