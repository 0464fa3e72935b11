// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Testing

@Suite("AAC") struct AACCodecTests {
    private static let block = AACEncoder.blockFrameCount

    /// Encodes signals and decodes each packet when the block that produced it has been collected, as a live call does.
    private func live(
        _ signals: [[Float]], rate: Double, bitRate: Int
    ) throws -> (heard: [[Float]], encoder: AACEncoder, longest: Int) {
        let encoder = try AACEncoder(sampleRate: rate, channelCount: signals.count, bitRate: bitRate)
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let said = AudioBuffer(signals)
        let blocks = said.frameCapacity / Self.block
        let out = AudioBuffer(channelCount: signals.count, frameCapacity: (blocks + 1) * Self.block)
        var longest = 0
        for k in 0..<blocks {
            guard let packet = try encoder.encode(said.channels, offset: k * Self.block) else {
                #expect(k == 0); continue
            }
            longest = max(longest, packet.count)
            let frames = try decoder.decode(packet, into: out.channels, offset: (k + 1) * Self.block)
            #expect(frames == Self.block)
        }
        return ((0..<signals.count).map(out.samples), encoder, longest)
    }

    @Test(
        "the total codec delay is three blocks: collection, look-ahead and overlap", arguments: AACEncoder.sampleRates,
        [1, 2])
    func delay(_ rate: Double, channelCount: Int) throws {
        let said = Signals.noise(16 * Self.block, smoothing: 12)
        let signals = Array(repeating: said, count: channelCount)
        let (heard, encoder, _) = try live(signals, rate: rate, bitRate: 64_000 * channelCount)
        #expect(Signals.lag(of: heard[channelCount - 1], behind: said, limit: 4_096) == AACEncoder.totalDelayFrames)
        #expect(encoder.primingFrames == 1_024)
    }

    @Test("a sine keeps a signal-to-noise ratio above 25 dB", arguments: AACEncoder.sampleRates)
    func quality(_ rate: Double) throws {
        let said = Signals.sine(64 * Self.block, hertz: 997, rate: rate)
        let (heard, _, _) = try live([said], rate: rate, bitRate: 64_000)
        let tail = 10 * Self.block..<50 * Self.block
        let moved = tail.lowerBound + AACEncoder.totalDelayFrames..<tail.upperBound + AACEncoder.totalDelayFrames
        #expect(Signals.ratio(heard[0][moved], said[tail]) > 25)
    }

    @Test("the left channel does not leak into the right one")
    func stereo() throws {
        let left = Signals.sine(32 * Self.block, hertz: 440, rate: 44_100)
        let silence = [Float](repeating: 0, count: left.count)
        let (heard, _, _) = try live([left, silence], rate: 44_100, bitRate: 128_000)
        let energy = heard.map { $0.reduce(0) { $0 + $1 * $1 } }
        #expect(energy[0] > 1_000 * energy[1])
    }

    @Test("a packet of more than 1,024 bytes is decoded completely")
    func longPacket() throws {
        let said = Signals.noise(32 * Self.block)
        let (heard, _, longest) = try live([said, said.reversed()], rate: 32_000, bitRate: 320_000)
        #expect(longest > 1_024)
        let tail = 10 * Self.block..<20 * Self.block
        let moved = tail.lowerBound + AACEncoder.totalDelayFrames..<tail.upperBound + AACEncoder.totalDelayFrames
        #expect(Signals.ratio(heard[0][moved], said[tail]) > 6)
    }

    @Test("flush returns the remaining packets and finishes the encoder")
    func flush() throws {
        let encoder = try AACEncoder(sampleRate: 44_100, channelCount: 1, bitRate: 64_000)
        let said = AudioBuffer([Signals.noise(Self.block)])
        var packets = 0
        for _ in 0..<5 { if try encoder.encode(said.channels) != nil { packets += 1 } }
        #expect(packets == 4)
        while try encoder.flush() != nil { packets += 1 }
        #expect(packets == 6)  // five blocks, and the overlap of the last
        #expect(try encoder.flush() == nil)
        #expect(throws: CodecError.encoderFinished(codec: "AAC")) { try encoder.encode(said.channels) }
    }

    @Test(
        "NaN, infinite and huge samples do not affect later blocks",
        arguments: [Float.nan, .infinity, -.infinity, 1e30])
    func noSignal(_ value: Float) throws {
        let encoder = try AACEncoder(sampleRate: 44_100, channelCount: 1, bitRate: 64_000)
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let good = Signals.sine(20 * Self.block, hertz: 997, rate: 44_100)
        let said = AudioBuffer([good])
        for i in 3 * Self.block..<4 * Self.block { said.channels[0][i] = value }
        let out = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        for k in 0..<20 {
            guard let packet = try encoder.encode(said.channels, offset: k * Self.block) else {
                #expect(k == 0); continue
            }
            #expect(try decoder.decode(packet, into: out.channels) == Self.block)
        }
        #expect(Signals.ratio(out.samples(0)[...], good[17 * Self.block..<18 * Self.block]) > 20)
    }

    @Test(
        "arbitrary bytes give a full block, no frames or an error, and later packets are decoded", arguments: 1...4,
        [1, 2])
    func garbage(_ seed: UInt64, channelCount: Int) throws {
        var generator = SplitMix(state: seed)
        let signal = Signals.sine(200 * Self.block, hertz: 997, rate: 44_100)
        let said = AudioBuffer(Array(repeating: signal, count: channelCount))
        let encoder = try AACEncoder(sampleRate: 44_100, channelCount: channelCount, bitRate: 64_000 * channelCount)
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let undamaged = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let out = AudioBuffer(channelCount: channelCount, frameCapacity: Self.block)
        let expected = AudioBuffer(channelCount: channelCount, frameCapacity: Self.block)
        for k in 0..<190 {
            guard let packet = try encoder.encode(said.channels, offset: k * Self.block) else {
                #expect(k == 0); continue
            }
            _ = try undamaged.decode(packet, into: expected.channels)
            var bytes = [UInt8](packet)
            switch k % 4 {
            case 0:
                bytes = (0..<Int.random(in: 0...9_000, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
            case 2:
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            default: break
            }
            let frames = bytes.withUnsafeBytes { try? decoder.decode($0, into: out.channels) }
            if let frames { #expect(frames == Self.block || frames == 0) }
        }
        // Ten packets after the damage it decodes the same as a decoder without damage.
        for k in 190..<200 {
            let packet = try #require(try encoder.encode(said.channels, offset: k * Self.block))
            #expect(try decoder.decode(packet, into: out.channels) == Self.block)
            _ = try undamaged.decode(packet, into: expected.channels)
        }
        let last = channelCount - 1
        #expect(expected.samples(last).contains { abs($0) > 0.4 })
        #expect(Signals.ratio(out.samples(last)[...], expected.samples(last)[...]) > 60)
    }

    @Test("reset clears the decoder's state, and decoding continues")
    func reset() throws {
        // Two decoders get opposite sounds until they are reset, and the same sound from then on. A new decoder would not be
        // comparable, since it does not know the last packet's window; nor would noise, since each has its own generator.
        let encoders = try (0..<2).map { _ in try AACEncoder(sampleRate: 48_000, channelCount: 2, bitRate: 128_000) }
        let decoders = try encoders.map { try AACDecoder(audioSpecificConfig: $0.audioSpecificConfig) }
        let tones = [440.0, 997].map { Signals.sine(12 * Self.block, hertz: $0, rate: 48_000) }
        let said = [AudioBuffer(tones), AudioBuffer(tones.map { $0.map { -$0 } })]
        let out = (0..<2).map { _ in AudioBuffer(channelCount: 2, frameCapacity: Self.block) }
        for k in 0..<12 {
            if k == 8 { for decoder in decoders { decoder.reset() } }
            for end in 0..<2 {
                let packet = try encoders[end].encode(said[end].channels, offset: k * Self.block).map { [UInt8]($0) }
                if k == 0 || (k >= 8 && end == 1) { continue }
                let bytes = try #require(packet)
                let listeners = k < 8 ? [end] : [0, 1]
                for n in listeners {
                    let frames = try bytes.withUnsafeBytes { try decoders[n].decode($0, into: out[n].channels) }
                    #expect(frames == Self.block)
                }
            }
            for c in 0..<2 where k > 3 {
                let ratio = Signals.ratio(out[1].samples(c)[...], out[0].samples(c)[...])
                #expect(k < 8 ? ratio < 0 : ratio > 80, "\(ratio) dB in packet \(k)")
            }
        }
    }

    @Test("out-of-range parameters are rejected")
    func parameters() {
        for (rate, channels, bits) in [
            (22_000.0, 1, 64_000), (44_100, 0, 64_000), (44_100, 3, 64_000), (44_100, 1, 8_000),
        ] {
            #expect(throws: CodecError.self) {
                try AACEncoder(sampleRate: rate, channelCount: channels, bitRate: bits)
            }
        }
    }
}
