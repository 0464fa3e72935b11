// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import Testing

@Suite struct OpusCustomCodecTests {
    static let rates = OpusCustomEncoder.sampleRates
    static let length = OpusCustomEncoder.frameCount

    /// Encodes and decodes signals, one per channel; nil for a lost frame.
    private func roundTrip(
        _ signals: [[Float]], rate: Double = 48_000, bitRate: Int = 160_000, isLost: (Int) -> Bool = { _ in false }
    ) throws -> AudioBuffer {
        let encoder = try OpusCustomEncoder(sampleRate: rate, channelCount: signals.count, bitRate: bitRate)
        let decoder = try OpusCustomDecoder(sampleRate: rate, channelCount: signals.count)
        let said = AudioBuffer(signals)
        let heard = AudioBuffer(channelCount: signals.count, frameCapacity: said.frameCapacity)
        var frame = [UInt8](repeating: 0, count: encoder.frameByteCount)
        for n in 0..<said.frameCapacity / Self.length {
            let at = n * Self.length
            let count = try frame.withUnsafeMutableBytes { try encoder.encode(said.channels, offset: at, into: $0) }
            #expect(count == encoder.frameByteCount)
            let frames =
                isLost(n)
                ? decoder.renderer.conceal(into: heard.channels, offset: at)
                : decoder.renderer.decode(frame, byteCount: frame.count, into: heard.channels, offset: at)
            #expect(frames == Self.length)
        }
        return heard
    }

    @Test(arguments: rates, [1, 2]) func `the decoded signal is delayed by the encoder's lookahead of one frame`(
        rate: Double, channelCount: Int
    ) throws {
        let said = Signals.noise(19_200, smoothing: 12)
        let heard = try roundTrip(
            Array(repeating: said, count: channelCount), rate: rate, bitRate: 160_000 * channelCount)
        let lag = Signals.lag(of: heard.samples(channelCount - 1), behind: said, limit: 300)
        #expect(lag == OpusCustomEncoder.lookahead && lag == 64)
    }

    @Test(arguments: rates) func `a sine survives encoding and decoding`(rate: Double) throws {
        let said = Signals.sine(48_000, hertz: 997, rate: rate)
        let heard = try roundTrip([said], rate: rate)
        let tail = 9_600..<38_400
        let moved = tail.lowerBound + OpusCustomEncoder.lookahead..<tail.upperBound + OpusCustomEncoder.lookahead
        #expect(Signals.ratio(heard.samples(0)[moved], said[tail]) > 25)
    }

    @Test func `a signal on the left channel stays on the left`() throws {
        let left = Signals.sine(48_000, hertz: 440, rate: 48_000)
        let heard = try roundTrip([left, [Float](repeating: 0, count: 48_000)], bitRate: 320_000)
        let energy = (0..<2).map { c in heard.samples(c).reduce(0) { $0 + $1 * $1 } }
        #expect(energy[0] > 1_000 * energy[1])
    }

    @Test(arguments: [48_000, 64_000, 128_000, 510_000], rates)
    func `each frame has the size that the bit rate implies`(
        bitRate: Int, rate: Double
    ) throws {
        let encoder = try OpusCustomEncoder(sampleRate: rate, channelCount: 1, bitRate: bitRate)
        let actual = Double(encoder.frameByteCount * 8) * rate / 64
        #expect(abs(actual - Double(bitRate)) <= rate / 64 * 4)
        #expect(OpusCustomEncoder.frameByteCounts.contains(encoder.frameByteCount))
    }

    @Test func `a missing frame is concealed at the signal's level, and after a reset almost silently`()
        throws
    {
        let said = Signals.sine(64 * 200, hertz: 440, rate: 48_000)
        let heard = try roundTrip([said]) { $0 == 150 }
        let made = heard.samples(0)[150 * 64..<151 * 64]
        let before = heard.samples(0)[148 * 64..<150 * 64]
        func power(_ samples: ArraySlice<Float>) -> Float {
            samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
        }
        #expect(power(made) > power(before) / 4 && power(made) < power(before) * 4)
        let decoder = try OpusCustomDecoder(sampleRate: 48_000, channelCount: 1)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 64)
        decoder.renderer.reset()
        #expect(decoder.renderer.conceal(into: block.channels, offset: 0) == 64)
        let loudest = block.samples(0).map { abs($0) }.max() ?? 1
        #expect(loudest < 0.1, "\(loudest)")
    }

    /// Another program created the packet and decoded it.
    @Test func `the example packet of the wire format decodes to the documented samples`() throws {
        let packet = try wireVector("custom")
        let decoder = try OpusCustomDecoder(sampleRate: 48_000, channelCount: 1)
        let heard = AudioBuffer(channelCount: 1, frameCapacity: 256)
        for n in 0..<4 {
            let frame = Array(packet[1 + n * 27..<28 + n * 27])
            #expect(
                decoder.renderer.decode(frame, byteCount: 27, into: heard.channels, offset: n * 64) == 64)
        }
        let documented: [Float] = [-0.001, 0.353, 0.499, 0.353, -0.001, -0.354, -0.499, -0.353]
        for (n, sample) in documented.enumerated() {
            #expect(abs(heard.channels[0][192 + 8 * n] - sample) < 0.001)
        }
    }

    @Test(arguments: rates, [1, 2]) func `arbitrary bytes decode to a frame or an error, and the next frame is decoded`(
        rate: Double, channelCount: Int
    ) throws {
        var generator = SplitMix(state: UInt64(channelCount))
        let encoder = try OpusCustomEncoder(sampleRate: rate, channelCount: channelCount, bitRate: 160_000)
        let decoder = try OpusCustomDecoder(sampleRate: rate, channelCount: channelCount)
        let said = AudioBuffer(Array(repeating: Signals.noise(64), count: channelCount))
        let block = AudioBuffer(channelCount: channelCount, frameCapacity: 65)
        block.channels[0][64] = 7
        var good = [UInt8](repeating: 0, count: encoder.frameByteCount)
        for round in 0..<5_000 {
            _ = try good.withUnsafeMutableBytes { try encoder.encode(said.channels, into: $0) }
            var bytes = good
            if round % 3 == 0 {
                bytes = (0..<Int.random(in: 1...1_300, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
            } else {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0...7, using: &generator)
            }
            let frames = decoder.renderer.decode(bytes, byteCount: bytes.count, into: block.channels, offset: 0)
            #expect(frames == (bytes.count <= 1_274 ? 64 : -4))
            #expect(
                (0..<channelCount).allSatisfy { c in (0..<64).allSatisfy { block.channels[c][$0].isFinite } })
            #expect(decoder.renderer.decode(good, byteCount: good.count, into: block.channels, offset: 0) == 64)
        }
        #expect(decoder.renderer.decode(good, byteCount: 1, into: block.channels, offset: 0) == 64)
        #expect(block.channels[0][64] == 7)
        #expect(decoder.renderer.decode(good, byteCount: 0, into: block.channels, offset: 0) == -4)
    }

    @Test func `parameters the codec does not support are rejected`() {
        for (rate, channels, bitRate, complexity) in [
            (32_000.0, 1, 160_000, 10), (48_000, 0, 160_000, 10), (48_000, 3, 160_000, 10), (48_000, 1, 47_999, 10),
            (48_000, 1, 510_001, 10), (48_000, 1, 160_000, 11), (96_000, 1, 160_000, 10), (.nan, 1, 160_000, 10),
        ] {
            #expect(throws: CodecError.self) {
                try OpusCustomEncoder(
                    sampleRate: rate, channelCount: channels, bitRate: bitRate, complexity: complexity)
            }
        }
        #expect(throws: CodecError.self) {
            try OpusCustomEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 160_000).encode(
                AudioBuffer(channelCount: 1, frameCapacity: 64).channels,
                into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        }
        #expect(throws: CodecError.self) { try OpusCustomDecoder(sampleRate: 44_000, channelCount: 1) }
        #expect(throws: CodecError.self) { try OpusCustomDecoder(sampleRate: 48_000, channelCount: 3) }
    }
}
