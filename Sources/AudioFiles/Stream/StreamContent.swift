// SPDX-License-Identifier: Apache-2.0

/// The content of a stream, by its first bytes.
package enum StreamContent: Hashable, Sendable {
    /// RIFF or RF64 WAVE.
    case wav
    /// Ogg pages.
    case ogg
    /// A list of addresses, one on each line (`.m3u`, `.m3u8`).
    case m3u
    /// A list of addresses as an INI file (`.pls`).
    case pls
    /// Known sound that is not parsed; the text names it.
    case otherSound(String)
    /// Known content other than sound; the text names it.
    case other(String)
    /// Unknown content; if it is sound, it is MPEG audio or AAC.
    case unknown

    /// The number of bytes at the beginning by which the content is recognized.
    package static let prefixLength = 512

    /// Recognizes a stream by its first bytes; ignores white space and a byte order mark before text.
    /// - Parameter isWhole: true if nothing follows these bytes. Then a few of them suffice to tell text from a live stream that
    ///   begins with any byte.
    package init(prefix bytes: some Collection<UInt8>, isWhole: Bool = false) {
        let bytes = Array(bytes.prefix(Self.prefixLength))
        let head = StreamBuffer(bytes)
        if let type = AudioFileType(prefix: head) {
            switch type {
            case .wav, .rf64: self = .wav
            case .vorbis, .opus: self = .ogg
            case .flac: self = .otherSound("FLAC without Ogg")
            case .m4a: self = .otherSound("an MP4 or M4A file")
            default: self = .otherSound("an \(type) file")
            }
        } else if head.begins(with: "OggS") {
            self = .ogg
        } else if head.begins(with: "RIFF") {
            self = .other("a RIFF file without sound (not WAVE)")
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) || bytes.starts(with: [0xFF, 0xD8, 0xFF])
            || head.begins(with: "GIF8")
        {
            self = .other("a picture")
        } else if head.begins(with: "%PDF") {
            self = .other("a PDF document")
        } else if bytes.starts(with: [0x1F, 0x8B, 8]) || bytes.starts(with: [0x50, 0x4B, 3, 4]) {
            self = .other("a compressed archive")
        } else {
            self = Self.text(bytes, minimumLength: isWhole ? 1 : 8)
        }
    }

    private static func text(_ bytes: [UInt8], minimumLength: Int) -> StreamContent {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        while let first = text.first, [9, 10, 13, 32].contains(first) { text = text.dropFirst() }
        let beginning = String(decoding: text.prefix(16), as: UTF8.self).lowercased()
        if beginning.hasPrefix("#extm3u") { return .m3u }
        if beginning.hasPrefix("[playlist]") { return .pls }
        if beginning.hasPrefix("http://") || beginning.hasPrefix("https://") { return .m3u }
        // Sound has bytes that text lacks. Because a live stream may begin with any byte, a few bytes do not suffice.
        guard text.count >= minimumLength,
            !text.contains(where: { $0 < 32 && !(9...13).contains($0) || $0 == 127 || $0 >= 0xF8 })
        else { return .unknown }
        if beginning.hasPrefix("<?xml") { return .other("an XML document") }
        if beginning.hasPrefix("<") { return .other("a web page (HTML)") }
        if beginning.hasPrefix("{") { return .other("a JSON document") }
        return .other("text")
    }
}
