// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles
import Testing

/// Decoders behind their common protocol, with packets of other encoders.
@Suite struct PacketDecoderTests {
    private static let frames = 44_100
    private static func tone(_ count: Int, rate: Double = 44_100) -> AudioBuffer {
        AudioBuffer([Signals.sine(count, hertz: 440, rate: rate), Signals.sine(count, hertz: 660, rate: rate)])
    }

    /// Returns LAME's packets for a second of two tones.
    private func mp3() throws -> (format: PacketFormat, packets: [AudioStreamPacket]) {
        let encoder = try MP3Encoder(sampleRate: 44_100, channelCount: 2, bitRate: .constant(128))
        let tone = Self.tone(Self.frames)
        var bytes: [UInt8] = []
        var at = 0
        while at < Self.frames {
            let count = min(MP3Encoder.maximumFrameCount, Self.frames - at)
            bytes += try encoder.encode(tone.channels, frameCount: count, offset: at)
            at += count
        }
        bytes += try encoder.flush()
        let header = encoder.header()
        bytes.replaceSubrange(0..<header.count, with: header)
        var parser = AudioStreamParser()
        var events: [AudioStreamEvent] = []
        try parser.parse(bytes, into: &events)
        try parser.finish(into: &events)
        var format: PacketFormat?
        var packets: [AudioStreamPacket] = []
        for event in events {
            if case .format(let found) = event { format = found.packets }
            if case .packet(let packet) = event { packets.append(packet) }
        }
        return (try #require(format), packets)
    }

    @Test func `MP3 decodes to exactly the frames that were encoded`() throws {
        let (format, packets) = try mp3()
        let decoder = try PacketDecoders.make(format)
        #expect(decoder.format == AudioFormat(sampleRate: 44_100, channelCount: 2))
        let block = AudioBuffer(channelCount: 2, frameCapacity: decoder.maximumFramesPerPacket)
        var heard: [Float] = []
        for packet in packets {
            let frames = try packet.bytes.withUnsafeBytes { try decoder.decode($0, into: block.channels) }
            #expect(frames == packet.frameCount)
            heard += packet.audibleFrames.map { block.channels[1][$0] }
        }
        #expect(heard.count == Self.frames)
        let said = Self.tone(Self.frames).samples(1)
        #expect(Signals.ratio(heard[1_000..<43_000], said[1_000..<43_000]) > 24)  // a frame beside it would be 20
    }

    @Test func `invalid packets become silence of the same length and are counted, and later ones decode`() throws {
        let (format, packets) = try mp3()
        let decoder = try ConcealingDecoder(format)
        let block = AudioBuffer(channelCount: 2, frameCapacity: decoder.maximumFramesPerPacket)
        var generator = SplitMix(state: 3)
        for (n, packet) in packets.enumerated() {
            var bytes = packet.bytes
            if (10..<13).contains(n) { bytes = (0..<50).map { _ in .random(in: 0...127, using: &generator) } }
            for c in 0..<2 { for i in 0..<1_152 { block.channels[c][i] = 9 } }
            let frames = bytes.withUnsafeBytes {
                decoder.decode($0, frameCount: packet.frameCount, into: block.channels)
            }
            #expect(frames == 1_152)
            #expect(block.samples(0).allSatisfy { abs($0) <= 1 })
            if (10..<13).contains(n) { #expect(block.samples(1).allSatisfy { $0 == 0 }) }
            if n == 20 { #expect(block.samples(1).contains { abs($0) > 0.4 }) }
        }
        #expect(decoder.concealedPackets == 3)
        #expect(decoder.concealedFrames == 3 * 1_152)
    }

    @Test(arguments: 1...6)
    func `arbitrary bytes decode to frames or an error`(_ seed: UInt64) throws {
        let (format, packets) = try mp3()
        var generator = SplitMix(state: seed)
        let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let others: [PacketFormat] = [
            format, PacketFormat(codec: .mp2, format: stereo, framesPerPacket: 1_152),
            PacketFormat(codec: .mp1, format: stereo, framesPerPacket: 384),
            PacketFormat(codec: .opus, format: stereo, framesPerPacket: nil),
            PacketFormat(codec: .aac, format: stereo, framesPerPacket: 1_024, configuration: [0x11, 0x90]),
            PacketFormat(codec: .pcm(.int24), format: stereo, framesPerPacket: nil),
        ]
        var decoded = 0
        for other in others {
            let decoder = try PacketDecoders.make(other, firstPacket: [1, 2, 3])
            let block = AudioBuffer(channelCount: 2, frameCapacity: decoder.maximumFramesPerPacket)
            for _ in 0..<40 {
                var bytes = packets[Int.random(in: 0..<packets.count, using: &generator)].bytes
                for _ in 0..<5 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
                let frames = bytes.withUnsafeBytes { try? decoder.decode($0, into: block.channels) }
                if let frames {
                    decoded += 1
                    #expect((0...decoder.maximumFramesPerPacket).contains(frames))
                }
            }
            decoder.reset()
        }
        #expect(decoded > 20)
    }

    @Test func `Vorbis without its headers is rejected`() {
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        for bytes in [[], [0, 3, 1, 2, 3], [UInt8](repeating: 0, count: 100)] {
            #expect(throws: CodecError.self) {
                try PacketDecoders.make(
                    PacketFormat(codec: .vorbis, format: format, framesPerPacket: nil, configuration: bytes))
            }
        }
    }

    @Test(arguments: [-512, 0, 256])
    func `Opus is decoded with the gain from its header`(_ gain: Int) throws {
        let encoder = try OpusEncoder(channelCount: 2, frameDuration: .milliseconds20, bitRate: 128_000)
        var header = [UInt8](repeating: 0, count: 19)
        (header[16], header[17]) = (UInt8(gain & 255), UInt8(gain >> 8 & 255))
        let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let decoder = try PacketDecoders.make(
            PacketFormat(codec: .opus, format: stereo, framesPerPacket: nil, configuration: header))
        let tone = Self.tone(48_000, rate: 48_000)
        let block = AudioBuffer(channelCount: 2, frameCapacity: decoder.maximumFramesPerPacket)
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketByteCount)
        var energy = 0.0
        for n in 0..<50 {
            let count = try packet.withUnsafeMutableBytes {
                try encoder.encode(tone.channels, offset: n * 960, into: $0)
            }
            let frames = try packet[..<count].withUnsafeBytes { try decoder.decode($0, into: block.channels) }
            #expect(frames == 960)
            if n >= 10 { for i in 0..<960 { energy += Double(block.channels[0][i] * block.channels[0][i]) } }
        }
        let level = energy / (40 * 960) / 0.125  // of a sine of 0.5
        let wanted = gain == 0 ? 1.0 : gain == 256 ? 1.2589 : 0.6310  // +1 dB, −2 dB
        #expect(abs(level / wanted - 1) < 0.05)
    }
}
