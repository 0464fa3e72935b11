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
