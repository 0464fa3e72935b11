// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// The file formats that are only read, with libavformat.
enum DemuxedFormat {
    case matroska
    case webM
    /// Windows Media (ASF).
    case windowsMedia
    /// FLAC in Ogg.
    case oggFLAC
    /// Dolby Digital without a container.
    case ac3
    /// Dolby Digital Plus without a container.
    case eac3

    /// Recognizes a file by its first bytes; nil for another format.
    init?(_ file: ReadableFile) {
        let head = file.bytes(at: 0, count: 64)
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            // The document type is among the first elements (RFC 8794, section 11.2.4).
            self = String(decoding: head, as: UTF8.self).contains("webm") ? .webM : .matroska
        } else if head.starts(with: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]) {
            self = .windowsMedia
        } else if head.starts(with: "OggS".utf8), head.dropFirst(28).starts(with: [0x7F] + Array("FLAC".utf8)) {
            self = .oggFLAC
        } else if head.starts(with: [0x0B, 0x77]), head.count > 5 {
            // From this bit stream number on it is E-AC-3 (ATSC A/52, annex E).
            self = head[5] >> 3 > 10 ? .eac3 : .ac3
        } else {
            return nil
        }
    }

    /// Returns true if the file is shorter than its header declares, or an Ogg stream has no last page. AC-3 declares no length.
    func isCutOff(_ file: ReadableFile) -> Bool {
        switch self {
        case .oggFLAC: file.isCutOff
        case .matroska, .webM: (Self.segmentEnd(file) ?? 0) > file.byteCount
        case .windowsMedia: (Self.declaredByteCount(file) ?? 0) > file.byteCount
        case .ac3, .eac3: false
        }
    }

    /// Returns the end of a Matroska file's segment (RFC 9559, section 5.1); nil if its size is unknown, as in a live recording.
    private static func segmentEnd(_ file: ReadableFile) -> Int? {
        guard let header = size(file, at: 4), let count = header.size else { return nil }
        let segment = 4 + header.length + count
        guard file.bytes(at: segment, count: 4) == [0x18, 0x53, 0x80, 0x67], let body = size(file, at: segment + 4),
            let count = body.size
        else { return nil }
        return segment + 4 + body.length + count
    }

    /// Returns the length of an element's size field and the size (RFC 8794, section 6); the size is nil if it is unknown.
    private static func size(_ file: ReadableFile, at offset: Int) -> (length: Int, size: Int?)? {
        let bytes = file.bytes(at: offset, count: 8)
        guard let first = bytes.first, first != 0, bytes.count > first.leadingZeroBitCount else { return nil }
        let length = first.leadingZeroBitCount + 1
        let number = bytes[..<length].reduce(0) { $0 << 8 | Int($1) } & (1 << (7 * length) - 1)
        // All ones mean unknown; no file has 2⁴⁸ bytes.
        return (length, number == 1 << (7 * length) - 1 || number >= 1 << 48 ? nil : number)
    }

    /// Returns the size in the File Properties Object of an ASF file, which is among the first objects; nil without it.
    private static func declaredByteCount(_ file: ReadableFile) -> Int? {
        let head = file.bytes(at: 0, count: 4_096)
        let object: [UInt8] = [
            0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11, 0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
        ]
        guard let start = head.indices.dropLast(48).first(where: { head[$0...].starts(with: object) }) else {
            return nil
        }
        let size = head[start + 40..<start + 48].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: size)
    }

    /// The name of libavformat's demultiplexer.
    var demultiplexer: String {
        switch self {
        case .matroska, .webM: "matroska"
        case .windowsMedia: "asf"
        case .oggFLAC: "ogg"
        case .ac3: "ac3"
        case .eac3: "eac3"
        }
    }

    /// The name to show to the user.
    var name: String {
        switch self {
        case .matroska: "Matroska"
        case .webM: "WebM"
        case .windowsMedia: "Windows Media"
        case .oggFLAC: "Ogg"
        case .ac3: "AC-3"
        case .eac3: "E-AC-3"
        }
    }
}
