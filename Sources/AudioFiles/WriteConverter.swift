// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Converts frames to a file's sample rate. For one thread at a time.
struct WriteConverter {
    private let converter: RateConverter
    private let silence: AudioBuffer
    private let converted: AudioBuffer
    private let rates: (from: Double, to: Double)
    private var given = 0
    private var made = 0
    private static let blockFrames = 2048

    init(from format: AudioFormat, to rate: Double) {
        converter = RateConverter(from: format.sampleRate, to: rate, channelCount: format.channelCount)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        converted = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        rates = (format.sampleRate, rate)
    }

    /// The output of the last call.
    var output: Channels { converted.channels }

    /// Converts frames until the destination is full.
    /// - Returns: the frames consumed, and the frames in ``output``.
    mutating func convert(_ channels: Channels, _ frames: Int, _ offset: Int) -> (consumed: Int, produced: Int) {
        let step = converter.convert(
            channels, frameCount: frames, inputOffset: offset, into: converted.channels, frameCapacity: Self.blockFrames
        )
        given += step.consumed
        made += step.produced
        return step
    }

    /// Pushes out the remaining frames.
    /// - Returns: the frames in ``output``, 0 at the end.
    mutating func finish() -> Int {
        let total = RateConverter.frameCount(given, from: rates.from, to: rates.to)
        while made < total {
            let (_, produced) = converter.convert(
                silence.channels, frameCount: Self.blockFrames, into: converted.channels,
                frameCapacity: min(Self.blockFrames, total - made))
            made += produced
            if produced > 0 { return produced }
        }
        return 0
    }
}
