// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import Foundation
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs

/// Encoders and decoders relative to real time: four seconds of a voice-like sound, mono, the median of some rounds.
struct CodecBenchmark {
    var name: String
    /// Seconds of work per second of sound.
    var encodeLoad: Double
    var decodeLoad: Double
    /// Seconds of sound in a packet.
    var packetDuration: Double

    private static let rounds = 9

    static func all() throws -> [CodecBenchmark] {
        try [pcm(frames: 128)] + OpusFrameDuration.allCases.map(opus) + [aac()]
    }

    private static func pcm(frames: Int) -> CodecBenchmark {
        measure("PCM, \(frames) frames", sampleRate: 48_000, frames: frames) { sound, offset, packet in
            packet.count = PCMCodec.encode(
                Channels(sound.pointers, count: 1), offset: offset, frameCount: frames, into: packet.bytes)
        } decode: { packet, out in
            PCMCodec.decode(packet.bytes, byteCount: packet.count, channelCount: 1, into: out, offset: 0) == frames
        }
    }

    private static func opus(_ duration: OpusFrameDuration) throws -> CodecBenchmark {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 64_000)
        let decoder = try OpusDecoder(channelCount: 1)
        let frames = duration.frameCount
        return try measure("Opus 64 kb/s, \(duration.milliseconds) ms", sampleRate: 48_000, frames: frames) {
            sound, offset, packet in
            let room = UnsafeMutableRawBufferPointer(start: packet.bytes, count: Packet.capacity)
            packet.count = try encoder.encode(sound, offset: offset, into: room)
        } decode: { packet, out in
            decoder.renderer.decode(packet.bytes, byteCount: packet.count, into: out, offset: 0, frameCount: frames)
                == frames
        }
    }

    private static func aac() throws -> CodecBenchmark {
        let encoder = try AACEncoder(sampleRate: 44_100, channelCount: 1, bitRate: 64_000)
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let frames = AACEncoder.blockFrameCount
        return try measure("AAC-LC 64 kb/s, \(frames) frames", sampleRate: 44_100, frames: frames) {
            sound, offset, packet in
            let bytes = try encoder.encode(sound, offset: offset)
            packet.count = bytes?.count ?? 0
            if let from = bytes?.baseAddress {
                UnsafeMutableRawPointer(packet.bytes).copyMemory(from: from, byteCount: packet.count)
            }
        } decode: { packet, out in
            try packet.count == 0
                || decoder.decode(UnsafeRawBufferPointer(start: packet.bytes, count: packet.count), into: out) >= 0
        }
    }

    private struct Packet {
        static let capacity = 8_192
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        var count = 0
    }

    private static func measure(
        _ name: String, sampleRate: Double, frames: Int,
        encode: (Channels, Int, inout Packet) throws -> Void, decode: (Packet, Channels) throws -> Bool
    ) rethrows -> CodecBenchmark {
        let sound = Sounds.voice(sampleRate: sampleRate)
        let out = AudioBuffer(channelCount: 1, frameCapacity: 8_192)
        var packets = (0..<sound.frameCapacity / frames).map { _ in Packet() }
        defer { for packet in packets { packet.bytes.deallocate() } }
        var encoding: [Double] = []
        var decoding: [Double] = []
        for _ in 0..<rounds {
            let start = HostTime.now()
            for i in packets.indices { try encode(sound.channels, i * frames, &packets[i]) }
            let middle = HostTime.now()
            for packet in packets where try !decode(packet, out.channels) { fatalError("\(name) does not decode") }
            encoding.append(middle.seconds(since: start))
            decoding.append(HostTime.now().seconds(since: middle))
        }
        let duration = Double(frames) / sampleRate
        let whole = duration * Double(packets.count)
        return CodecBenchmark(
            name: name, encodeLoad: median(encoding) / whole, decodeLoad: median(decoding) / whole,
            packetDuration: duration)
    }
}
