// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Testing

@Suite("Opus") struct OpusCodecTests {
    /// Encodes and decodes whole packets of signals, one per channel.
    private func roundTrip(
        _ signals: [[Float]], _ duration: OpusFrameDuration, bitRate: Int
    ) throws -> (heard: AudioBuffer, encoder: OpusEncoder, longest: Int) {
        let encoder = try OpusEncoder(channelCount: signals.count, frameDuration: duration, bitRate: bitRate)
        let decoder = try OpusDecoder(channelCount: signals.count)
        let said = AudioBuffer(signals)
        let heard = AudioBuffer(channelCount: signals.count, frameCapacity: said.frameCapacity)
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
        var (at, longest) = (0, 0)
        while at + duration.frameCount <= said.frameCapacity {
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(said.channels, offset: at, into: $0) }
            longest = max(longest, count)
            let frames = decoder.renderer.decode(
                packet, byteCount: count, into: heard.channels, offset: at, frameCount: said.frameCapacity - at)
            #expect(frames == duration.frameCount)
            at += duration.frameCount
        }
        return (heard, encoder, longest)
    }

    @Test("the decoded signal is delayed by the encoder's look-ahead", arguments: OpusFrameDuration.allCases, [1, 2])
    func delay(_ duration: OpusFrameDuration, channelCount: Int) throws {
        let said = Signals.noise(19_200, smoothing: 12)
        let (heard, encoder, _) = try roundTrip(
            Array(repeating: said, count: channelCount), duration, bitRate: 128_000 * channelCount)
        let lag = Signals.lag(of: heard.samples(channelCount - 1), behind: said, limit: 600)
        #expect(abs(lag - encoder.lookahead) <= 3)
        #expect(encoder.lookahead == (duration.milliseconds < 10 ? 120 : 312))
    }

    @Test("a sine keeps a signal-to-noise ratio above 25 dB", arguments: OpusFrameDuration.allCases)
    func quality(_ duration: OpusFrameDuration) throws {
        let said = Signals.sine(48_000, hertz: 997, rate: 48_000)
        let (heard, encoder, _) = try roundTrip([said], duration, bitRate: 96_000)
        let tail = 9_600..<38_400
        let moved = tail.lowerBound + encoder.lookahead..<tail.upperBound + encoder.lookahead
        #expect(Signals.ratio(heard.samples(0)[moved], said[tail]) > 25)
    }

    @Test("the left channel does not leak into the right one")
    func stereo() throws {
        let left = Signals.sine(48_000, hertz: 440, rate: 48_000)
        let silence = [Float](repeating: 0, count: 48_000)
        let (heard, _, _) = try roundTrip([left, silence], .milliseconds20, bitRate: 128_000)
        let energy = (0..<2).map { c in heard.samples(c).reduce(0) { $0 + $1 * $1 } }
        #expect(energy[0] > 1_000 * energy[1])
    }

    @Test("the encoder produces complete packets of more than 1,024 bytes")
    func longPacket() throws {
        let said = Signals.noise(96_000)
        let (_, _, longest) = try roundTrip([said, said.reversed()], .milliseconds20, bitRate: 510_000)
        #expect(longest > 1_024)
        #expect(longest <= OpusEncoder.maximumPacketByteCount)
    }

    @Test(
        "a lost packet is concealed at the signal's level, and with silence after a reset",
        arguments: OpusFrameDuration.allCases)
    func concealment(_ duration: OpusFrameDuration) throws {
        let n = duration.frameCount
        let said = AudioBuffer([Signals.sine(100 * n, hertz: 440, rate: 48_000)])
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 64_000)
        let decoder = try OpusDecoder(channelCount: 1)
        let heard = AudioBuffer(channelCount: 1, frameCapacity: n)
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
        for k in 0..<100 {
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(said.channels, offset: k * n, into: $0) }
            if k < 99 {
                _ = decoder.renderer.decode(packet, byteCount: count, into: heard.channels, offset: 0, frameCount: n)
            }
        }
        #expect(decoder.renderer.conceal(into: heard.channels, offset: 0, frameCount: n) == n)
        let energy = heard.samples(0).reduce(0) { $0 + $1 * $1 } / Float(n)
        #expect(energy > 0.125 / 4 && energy < 0.125 * 2)
        decoder.renderer.reset()
        #expect(decoder.renderer.conceal(into: heard.channels, offset: 0, frameCount: n) == n)
        #expect(heard.samples(0).allSatisfy { $0 == 0 })
    }

    /// The variable bit rate of libopus gave the short packets 3 bytes each.
    @Test func `short independent packets after a long one have their share of bits`() throws {
        let said = AudioBuffer([Signals.sine(2_400, hertz: 150, rate: 48_000)])
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .microseconds2500, bitRate: 128_000)
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
        encoder.setIndependent(true)
        var counts: [Int] = []
        for range in [0..<480, 480..<960] + (0..<8).map({ 960 + 120 * $0..<1_080 + 120 * $0 }) {
            counts.append(
                try packet.withUnsafeMutableBytes {
                    try encoder.encode(said.channels, offset: range.lowerBound, frameCount: range.count, into: $0)
                })
        }
        #expect(counts[2...].allSatisfy { $0 >= 38 }, "\(counts)")
    }

    @Test("concealment of an unsupported length is rejected", arguments: [-120, 0, 1, 119, 121, 5_880])
    func concealmentLength(_ frames: Int) throws {
        let decoder = try OpusDecoder(channelCount: 2)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 6_000)
        #expect(decoder.renderer.conceal(into: buffer.channels, offset: 0, frameCount: frames) == -1)
    }

    @Test("arbitrary bytes give an error or frames that fit, and the next packet is decoded", arguments: 1...4)
    func garbage(_ seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 48_000)
        let decoder = try OpusDecoder(channelCount: 2)
        let said = AudioBuffer([Signals.noise(960)])
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 5_761)
        buffer.channels[0][5_760] = 7
        var good = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
        for round in 0..<500 {
            var bytes = [UInt8](repeating: 0, count: Int.random(in: 0...1_500, using: &generator))
            for i in bytes.indices { bytes[i] = UInt8.random(in: 0...255, using: &generator) }
            let count = try good.withUnsafeMutableBytes { try encoder.encode(said.channels, into: $0) }
            if round % 3 == 0 { bytes = Array(good[..<Int.random(in: 0...count, using: &generator)]) }
            let room = [5_760, 960, 120, 1, 0][round % 5]
            let frames = decoder.renderer.decode(
                bytes, byteCount: bytes.count, into: buffer.channels, offset: 0, frameCount: room)
            #expect(frames <= room && frames != 0)
            if frames > 0 { #expect((0..<frames).allSatisfy { buffer.channels[1][$0].isFinite }) }
            _ = decoder.renderer.frameCount(of: bytes, byteCount: bytes.count)
            #expect(
                decoder.renderer.decode(good, byteCount: count, into: buffer.channels, offset: 0, frameCount: 960)
                    == 960)
        }
        #expect(buffer.channels[0][5_760] == 7)
    }

    @Test("out-of-range parameters are rejected")
    func parameters() {
        #expect(throws: CodecError.self) {
            try OpusEncoder(channelCount: 3, frameDuration: .milliseconds20, bitRate: 48_000)
        }
        #expect(throws: CodecError.self) {
            try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 5_999)
        }
        #expect(throws: CodecError.self) {
            try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 48_000, complexity: 11)
        }
        #expect(throws: CodecError.self) { try OpusDecoder(channelCount: 0) }
        #expect(OpusFrameDuration(milliseconds: 2.5) == .microseconds2500)
        #expect(OpusFrameDuration(milliseconds: 40) == nil)
    }

    @Test("an empty packet buffer is an error, and a short one limits the packet size")
    func shortBuffer() throws {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 128_000)
        let said = AudioBuffer([Signals.noise(960)])
        #expect(throws: CodecError.self) {
            try encoder.encode(said.channels, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        }
        var packet = [UInt8](repeating: 0, count: 100)
        let count = try packet.withUnsafeMutableBytes { try encoder.encode(said.channels, into: $0) }
        #expect((1...100).contains(count))
    }
}
