// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Testing

/// Tests the copy of an earlier packet in an Opus packet (in-band FEC).
@Suite struct OpusRedundancyTests {
    /// A signal that the encoder takes for speech: pulses at 120 Hz through two resonances, with varying level.
    private static let speech: [Float] = {
        var (a, b, c, d): (Float, Float, Float, Float) = (0, 0, 0, 0)
        return (0..<96_000).map { n in
            let loudness = Float(n % 12_000 < 9_000 ? 1 : 0.05)
            let pulse: Float = n % 400 == 0 ? loudness : 0
            let first = pulse + 1.96 * a - 0.968 * b
            (b, a) = (a, first)
            let second = first + 1.9 * c - 0.94 * d
            (d, c) = (c, second)
            return 0.004 * second
        }
    }()

    private func packets(percent: Int, _ duration: OpusFrameDuration = .milliseconds20) throws -> [[UInt8]] {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 24_000)
        encoder.setExpectedLoss(percent: percent)
        let said = AudioBuffer([Self.speech])
        return try stride(from: 0, to: Self.speech.count, by: duration.frameCount).map { at in
            var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(said.channels, offset: at, into: $0) }
            return Array(packet.prefix(count))
        }
    }

    /// The decoder must not have concealed any of a packet that was only late.
    @Test(arguments: [OpusFrameDuration.microseconds2500, .milliseconds10, .milliseconds20])
    func `a packet that comes during its concealment is decoded as if it had come in time`(
        _ duration: OpusFrameDuration
    ) throws {
        let packets = try packets(percent: 0, duration)
        let frames = duration.frameCount
        let (late, inTime) = (
            try OpusDecoder.makeRenderDecoder(sampleRate: 48_000, channelCount: 1),
            try OpusDecoder.makeRenderDecoder(sampleRate: 48_000, channelCount: 1)
        )
        let (heard, expected, concealed) = (
            AudioBuffer(channelCount: 1, frameCapacity: frames), AudioBuffer(channelCount: 1, frameCapacity: frames),
            AudioBuffer(channelCount: 1, frameCapacity: frames)
        )
        for (n, packet) in packets.prefix(100).enumerated() {
            packet.withUnsafeBufferPointer { bytes in
                func call(_ output: AudioBuffer, _ bytes: UnsafeBufferPointer<UInt8>? = nil) -> DecoderCall {
                    DecoderCall(
                        bytes: bytes?.baseAddress, byteCount: bytes?.count ?? 0, position: n * frames,
                        frameCount: frames, output: output.channels, capacity: frames)
                }
                if n % 10 == 7 { for _ in 0..<2 { #expect(late.handle.conceal(call(concealed)) == frames) } }
                #expect(late.handle.decode(call(heard, bytes)) == frames)
                #expect(inTime.handle.decode(call(expected, bytes)) == frames)
            }
            #expect(heard.samples(0) == expected.samples(0))
        }
    }

    /// Playout replaces a rough concealment by its own, and the decoder must not continue the former.
    @Test(arguments: [OpusFrameDuration.microseconds2500, .milliseconds10, .milliseconds20], [1, 3])
    func `after an undone concealment packets are decoded as if nothing had been concealed`(
        _ duration: OpusFrameDuration, pieces: Int
    ) throws {
        let packets = try packets(percent: 0, duration)
        let frames = duration.frameCount
        let (undone, untouched) = (
            try OpusDecoder.makeRenderDecoder(sampleRate: 48_000, channelCount: 1),
            try OpusDecoder.makeRenderDecoder(sampleRate: 48_000, channelCount: 1)
        )
        let (heard, expected) = (
            AudioBuffer(channelCount: 1, frameCapacity: frames), AudioBuffer(channelCount: 1, frameCapacity: frames)
        )
        for (n, packet) in packets.prefix(100).enumerated() {
            func call(_ output: AudioBuffer, _ bytes: UnsafeBufferPointer<UInt8>? = nil) -> DecoderCall {
                DecoderCall(
                    bytes: bytes?.baseAddress, byteCount: bytes?.count ?? 0, position: n * frames,
                    frameCount: frames, output: output.channels, capacity: frames)
            }
            if n % 10 == 7 {
                for _ in 0..<pieces { #expect(undone.handle.conceal(call(heard)) == frames) }
                for _ in 0..<2 { undone.handle.undoConcealment() }
                continue
            }
            packet.withUnsafeBufferPointer { bytes in
                #expect(undone.handle.decode(call(heard, bytes)) == frames)
                #expect(untouched.handle.decode(call(expected, bytes)) == frames)
            }
            #expect(heard.samples(0) == expected.samples(0))
        }
    }

    /// Decodes packets of which every tenth is lost, in one of three ways.
    private func decode(_ packets: [[UInt8]], recovering: Bool?) throws -> [Float] {
        let decoder = try OpusDecoder(channelCount: 1)
        let heard = AudioBuffer(channelCount: 1, frameCapacity: packets.count * 960)
        for (n, packet) in packets.enumerated() {
            let isLost = n % 10 == 7 && n + 1 < packets.count
            var frames = 960
            if isLost, recovering == true {
                frames = decoder.renderer.recover(
                    before: packets[n + 1], byteCount: packets[n + 1].count, into: heard.channels, offset: n * 960,
                    frameCount: 960)
            } else if isLost, recovering == false {
                frames = decoder.renderer.conceal(into: heard.channels, offset: n * 960, frameCount: 960)
            } else {
                frames = decoder.renderer.decode(
                    packet, byteCount: packet.count, into: heard.channels, offset: n * 960, frameCount: 960)
            }
            #expect(frames == 960)
        }
        return heard.samples(0)
    }

    @Test func `packets carry redundancy for the previous one only when loss is expected`() throws {
        let decoder = try OpusDecoder(channelCount: 1)
        func share(_ packets: [[UInt8]]) -> Double {
            let carrying = packets.count { decoder.renderer.carriesEarlier($0, byteCount: $0.count) }
            return Double(carrying) / Double(packets.count)
        }
        #expect(share(try packets(percent: 0)) == 0)
        #expect(share(try packets(percent: 20)) > 0.4)
        #expect(share(try packets(percent: 20, .milliseconds5)) == 0, "only speech's coder has it")
    }

    @Test func `a recovered packet is closer to the lost one than concealment is`() throws {
        let packets = try packets(percent: 20)
        let whole = try decode(packets, recovering: nil)
        let (made, recovered) = (
            try decode(packets, recovering: false), try decode(packets, recovering: true)
        )
        let better = Signals.ratio(recovered[...], whole[...]) - Signals.ratio(made[...], whole[...])
        #expect(better > 1, "\(better) dB")
    }

    @Test func `invalid frame counts and packets are rejected in recovery`() throws {
        let decoder = try OpusDecoder(channelCount: 1).renderer
        let heard = AudioBuffer(channelCount: 1, frameCapacity: 5_760)
        let packet = try packets(percent: 20)[3]
        for frames in [0, -120, 121, 5_880] {
            #expect(
                decoder.recover(
                    before: packet, byteCount: packet.count, into: heard.channels, offset: 0, frameCount: frames) < 0)
        }
        #expect(decoder.recover(before: packet, byteCount: 0, into: heard.channels, offset: 0, frameCount: 960) < 0)
        #expect(!decoder.carriesEarlier([0], byteCount: 1) && !decoder.carriesEarlier([0xFF, 0xFF], byteCount: 2))
        #expect(decoder.carriesEarlier([0x08, 0x40], byteCount: 2), "20 ms of SILK, narrow, with the flag")
        #expect(!decoder.carriesEarlier([0x18, 0x40], byteCount: 2), "60 ms")
    }
}
