// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The codec of an Ogg stream: reads the header packets, and tells the durations of the other packets.
struct OggCodec {
    enum Kind: Hashable {
        case opus(preSkip: Int)
        case vorbis(VorbisHeaders)
    }

    let format: AudioFormat
    private(set) var kind: Kind
    private(set) var configuration: [UInt8]
    private(set) var title: String?
    private(set) var headersToCome: Int
    private var previousBlock: Int?

    /// The number of frames at the beginning that are not sound; 0 for Vorbis.
    var preSkip: Int { if case .opus(let frames) = kind { frames } else { 0 } }

    var packetFormat: PacketFormat {
        let codec: PacketFormat.Codec = if case .opus = kind { .opus } else { .vorbis }
        return PacketFormat(codec: codec, format: format, framesPerPacket: nil, configuration: configuration)
    }

    /// Returns the display name of an unsupported stream in Ogg by its first packet.
    static func name(_ packet: [UInt8]) -> String {
        for (magic, name) in [
            ("\u{7F}FLAC", "FLAC in Ogg"), ("Speex", "Speex"), ("fishead", "a skeleton"), ("\u{80}theora", "video"),
            ("OpusHead", "Opus with more than two channels"), ("\u{01}vorbis", "Vorbis with such a header"),
        ] where packet.starts(with: magic.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) {
            return name
        }
        return "an unknown stream in Ogg"
    }

    /// Reads a stream's first packet; nil if the codec is unsupported.
    init?(first packet: [UInt8]) {
        previousBlock = nil
        title = nil
        if packet.starts(with: Array("OpusHead".utf8)) {
            // Version 0, one or two channels, one stream (RFC 7845, 5.1).
            guard packet.count >= 19, packet[8] >> 4 == 0, (1...2).contains(packet[9]) else { return nil }
            guard packet[18] == 0 || packet[18] == 1 && packet.count >= 21 && packet[19] == 1 else { return nil }
            format = AudioFormat(sampleRate: 48_000, channelCount: Int(packet[9]))
            kind = .opus(preSkip: Int(packet[10]) | Int(packet[11]) << 8)
            configuration = packet
            headersToCome = 1
        } else if let headers = VorbisHeaders(identification: packet) {
            format = AudioFormat(sampleRate: Double(headers.sampleRate), channelCount: headers.channelCount)
            kind = .vorbis(headers)
            configuration = Self.withLength(packet)
            headersToCome = 2
        } else {
            return nil
        }
    }

    private static func withLength(_ packet: [UInt8]) -> [UInt8] {
        [UInt8(packet.count >> 8 & 255), UInt8(packet.count & 255)] + packet
    }

    /// Reads a header after the first. Returns false if the packet is not a header.
    mutating func takeHeader(_ packet: [UInt8]) -> Bool {
        switch kind {
        case .opus:
            guard packet.starts(with: Array("OpusTags".utf8)) else { return false }
            title = StreamComments.title(packet[8...])
        case .vorbis(var headers):
            if headersToCome == 2 {
                guard packet.starts(with: [3] + Array("vorbis".utf8)) else { return false }
                title = StreamComments.title(packet[7...])
                // The decoder requires a comment header, and ignores its content.
                configuration += Self.withLength([3] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 1])
            } else {
                guard packet.count < 65_536, headers.readModes(setup: packet) else { return false }
                kind = .vorbis(headers)
                configuration += Self.withLength(packet)
            }
        }
        headersToCome -= 1
        return true
    }

    /// Forgets the previous packet, because the next packet does not follow it.
    mutating func forget() { previousBlock = nil }

    /// Returns the number of frames to which a packet decodes, 0 for the first packet of Vorbis; nil if the packet has no sound.
    mutating func frameCount(_ packet: [UInt8]) -> Int? {
        switch kind {
        case .opus: return Self.opusFrames(packet)
        case .vorbis(let headers):
            guard let block = headers.blockSize(packet) else { return nil }
            defer { previousBlock = block }
            return previousBlock.map { ($0 + block) / 4 } ?? 0
        }
    }

    /// Returns the frames of an Opus packet at 48 kHz, by its first byte and, for several frames, the second (RFC 6716, 3.1).
    private static func opusFrames(_ packet: [UInt8]) -> Int? {
        guard let first = packet.first else { return nil }
        let configuration = Int(first >> 3)
        let partFrames =
            switch configuration {
            case 0..<12: [480, 960, 1_920, 2_880][configuration & 3]
            case 12..<16: [480, 960][configuration & 1]
            default: 120 << (configuration & 3)
            }
        var count = 1
        switch first & 3 {
        case 0: break
        case 1, 2: count = 2
        default:
            guard packet.count >= 2 else { return nil }
            count = Int(packet[1] & 63)
        }
        return count > 0 && count * partFrames <= 5_760 ? count * partFrames : nil
    }
}

/// The comments of Vorbis and Opus (Vorbis I, 5).
enum StreamComments {
    /// Returns `ARTIST - TITLE`, or the only one of both; nil if there is none.
    static func title(_ bytes: ArraySlice<UInt8>) -> String? {
        var rest = bytes
        func number() -> Int? {
            guard rest.count >= 4 else { return nil }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard let vendor = number(), vendor <= rest.count else { return nil }
        rest = rest.dropFirst(vendor)
        guard let count = number() else { return nil }
        var found: [String: String] = [:]
        for _ in 0..<min(count, 256) {
            guard let length = number(), length <= rest.count else { break }
            let comment = rest.prefix(min(length, 1_024))
            rest = rest.dropFirst(length)
            guard let equals = comment.firstIndex(of: 61) else { continue }
            let key = String(decoding: comment[..<equals], as: UTF8.self).uppercased()
            if key == "ARTIST" || key == "TITLE", found[key] == nil {
                found[key] = String(decoding: comment[(equals + 1)...], as: UTF8.self)
            }
        }
        let parts = [found["ARTIST"], found["TITLE"]].compactMap { $0 }.filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: " - ")
    }
}
