// SPDX-License-Identifier: Apache-2.0

import BenchScenes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs
@testable import EarshotPlayout

/// A callback's pull of all peers, whose packets all arrive at once.
enum Playouts {
    private static let block = 64
    private static let rate = 48_000.0

    static func count() throws {
        for peers in [1, 7] {
            for duration in [OpusFrameDuration.microseconds2500, .milliseconds20] { try pull(peers, duration) }
        }
        let voice = Sounds.voice(sampleRate: rate, seconds: 1)
        for channels in [1, 2] { try conceal(channels, voice) }
    }

    private static func make(_ peers: Int, _ configuration: PlayoutConfiguration) throws -> [Playout] {
        try (0..<peers).map { _ in try Playout(configuration) }
    }

    private static func pull(_ peers: Int, _ duration: OpusFrameDuration) throws {
        let packets = try Sounds.opusPackets(duration, seconds: 1)
        let playouts = try make(
            peers,
            PlayoutConfiguration(
                coding: .opus, streamRate: rate, deviceRate: rate, channelCount: 1,
                framesPerPacket: duration.frameCount))
        let output = AudioBuffer(channelCount: 1, frameCapacity: block)
        var (number, sent) = (0, 0)
        func run(_ blocks: Int) {
            for _ in 0..<blocks {
                let due = HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: Double(number * block) / rate)
                while (sent + 1) * duration.frameCount <= number * block {
                    let packet = packets[sent % packets.count]
                    let header = PacketHeader(
                        sequence: sent, position: sent * duration.frameCount, frameCount: duration.frameCount,
                        byteCount: packet.count, arrival: due.advanced(bySeconds: -0.001))
                    push(packet, header, to: playouts)
                    sent += 1
                }
                for playout in playouts {
                    playout.renderer.pull(
                        output.channels, frameCount: block, sampleTime: Int64(number * block), hostTime: due)
                }
                number += 1
            }
        }
        run(375)
        counted("pull of \(peers) of Opus, \(duration.milliseconds) ms, 64 frames", 375) { run(375) }
        require(playouts.allSatisfy { $0.statistics.concealedFrames == 0 }, "something was concealed")
    }

    /// Packets of PCM with one period each, of which every fortieth is lost.
    private static func conceal(_ channels: Int, _ voice: AudioBuffer) throws {
        let playouts = try make(
            7,
            PlayoutConfiguration(
                coding: .pcm, streamRate: rate, deviceRate: rate, channelCount: channels, framesPerPacket: block))
        let sound = AudioBuffer(channelCount: channels, frameCapacity: block)
        let output = AudioBuffer(channelCount: channels, frameCapacity: block)
        var payload = [UInt8](repeating: 0, count: 2 * block * channels)
        var number = 0
        func run(_ blocks: Int) {
            for _ in 0..<blocks {
                let due = HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: Double(number * block) / rate)
                for c in 0..<channels {
                    let at = (number + 100 * c) * block % (voice.frameCapacity - block)
                    copySamples(sound.channels[c], voice.channels[0] + at, block)
                }
                if number % 40 != 35 {
                    let size = payload.withUnsafeMutableBufferPointer { bytes in
                        bytes.baseAddress.map {
                            PCMCodec.encode(sound.channels, offset: 0, frameCount: block, into: $0)
                        } ?? 0
                    }
                    let header = PacketHeader(
                        sequence: number, position: number * block, frameCount: block, byteCount: size,
                        arrival: due.advanced(bySeconds: -0.001))
                    push(payload, header, to: playouts)
                }
                for playout in playouts {
                    playout.renderer.pull(
                        output.channels, frameCount: block, sampleTime: Int64(number * block), hostTime: due)
                }
                number += 1
            }
        }
        run(200)
        counted("pull of 7 of PCM, \(channels) channel\(channels == 1 ? "" : "s"), 2.5 % lost, 64 frames", 400) {
            run(200)
        }
        require(playouts.allSatisfy { $0.statistics.concealedFrames > 8 * block }, "nothing was concealed")
    }

    private static func push(_ packet: [UInt8], _ header: PacketHeader, to playouts: [Playout]) {
        packet.withUnsafeBytes { bytes in
            for playout in playouts { require(playout.packets.push(header, payload: bytes), "a queue is full") }
        }
    }
}
