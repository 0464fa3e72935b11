// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import Testing

@testable import EarshotPlayout

/// Packets of Opus Custom are decoded as by a decoder alone.
struct OpusCustomPlayoutTests {
    private let configuration = PlayoutConfiguration(
        coding: .opusCustom, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 128)

    private func decode(_ packet: [UInt8], _ header: PacketHeader, _ decoder: inout PayloadDecoder) {
        var packet = packet
        packet.withUnsafeMutableBytes { decoder.decode(header, $0.baseAddress!) }
    }

    private func packets(_ count: Int) throws -> (packets: [[UInt8]], size: Int) {
        let encoder = try OpusCustomEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 160_000)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: 64)
        let size = encoder.frameByteCount
        let packets = try (0..<count).map { n in
            var packet = [UInt8](repeating: 0, count: 2 * size)
            for frame in 0..<2 {
                for i in 0..<64 { sound.channels[0][i] = voice((2 * n + frame) * 64 + i) }
                try packet.withUnsafeMutableBytes {
                    _ = try encoder.encode(
                        sound.channels, offset: 0,
                        into: UnsafeMutableRawBufferPointer(rebasing: $0[(frame * size)...]))
                }
            }
            return packet
        }
        return (packets, size)
    }

    @Test(arguments: [(0, 0), (1, 2), (3, 6), (4, 8), (6, 8)])
    func `the decoder conceals each lost frame, up to eight`(lost: Int, madeUp: Int) throws {
        let (packets, size) = try packets(20)
        let decoder = try RenderCodec.opusCustom.makeDecoder(sampleRate: 48_000, channelCount: 1)
        let reference = try OpusCustomDecoder(sampleRate: 48_000, channelCount: 1)
        var playing = PayloadDecoder(configuration, main: decoder.handle, fallback: nil)
        let right = AudioBuffer(channelCount: 1, frameCapacity: 128)
        for (n, packet) in packets.enumerated() where !(10..<10 + lost).contains(n) {
            if n == 10 + lost {
                for _ in 0..<madeUp { _ = reference.renderer.conceal(into: right.channels, offset: 0) }
            }
            for frame in 0..<2 {
                _ = packet[(frame * size)...].withUnsafeBufferPointer {
                    reference.renderer.decode(
                        $0.baseAddress!, byteCount: size, into: right.channels, offset: 64 * frame)
                }
            }
            let header = PacketHeader(
                sequence: n, position: 128 * n, frameCount: 128, byteCount: packet.count,
                arrival: HostTime(nanoseconds: 0))
            decode(packet, header, &playing)
            #expect(playing.stage.frameCount == 128)
            let found = Array(UnsafeBufferPointer(start: playing.stage.channels[0], count: 128))
            playing.stage.removeAll()
            #expect(found == Array(UnsafeBufferPointer(start: right.channels[0], count: 128)), "packet \(n)")
        }
    }

    @Test func `a packet with fewer frames than one, or more than the limit, decodes to no frames`() throws {
        let decoder = try RenderCodec.opusCustom.makeDecoder(sampleRate: 48_000, channelCount: 1)
        var playing = PayloadDecoder(configuration, main: decoder.handle, fallback: nil)
        for frames in [0, 63, PacketStage.capacity + 64] {
            let header = PacketHeader(
                sequence: 0, position: 0, frameCount: frames, byteCount: 100, arrival: HostTime(nanoseconds: 0))
            decode([UInt8](repeating: 0, count: 100), header, &playing)
            #expect(playing.stage.frameCount == 0, "\(frames) frames")
        }
    }
}
