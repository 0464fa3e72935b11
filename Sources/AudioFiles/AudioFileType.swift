import Glibc

/// Kinds of sound files.
public enum AudioFileType: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// WAV, with or without a broadcast extension (BWF); it ends at 4 GiB.
    case wav
    /// WAV that turns into RF64 where it passes 4 GiB; until then it is a plain WAV.
    case rf64
    /// AIFF or AIFF-C; it ends at 4 GiB.
    case aiff
    /// Apple's Core Audio Format, of any length.
    case caf
    /// FLAC, lossless.
    case flac
    /// Vorbis in Ogg.
    case vorbis
    /// Opus in Ogg.
    case opus
    /// MPEG audio with no container, of any layer.
    case mp3
    /// MPEG-4 audio: AAC or Apple Lossless.
    case m4a
    /// AAC with no container.
    case adts

    /// As people write it.
    public var description: String {
        switch self {
        case .wav: "WAV"
        case .rf64: "RF64"
        case .aiff: "AIFF"
        case .caf: "CAF"
        case .flac: "FLAC"
        case .vorbis: "Ogg Vorbis"
        case .opus: "Ogg Opus"
        case .mp3: "MP3"
        case .m4a: "M4A"
        case .adts: "ADTS"
        }
    }

    /// The kind that a file's name asks for, in which `.wav` may grow (``rf64``); nil where the ending is none of ours.
    public init?(fileName: String) {
        let name = fileName.lowercased()
        let kinds: [(AudioFileType, [String])] = [
            (.rf64, [".wav", ".wave", ".rf64", ".bwf"]), (.aiff, [".aiff", ".aif", ".aifc"]), (.caf, [".caf"]),
            (.flac, [".flac"]), (.vorbis, [".ogg", ".oga"]), (.opus, [".opus"]), (.mp3, [".mp3"]),
            (.m4a, [".m4a", ".m4b", ".mp4"]), (.adts, [".aac", ".adts"]),
        ]
        guard let kind = kinds.first(where: { $0.1.contains { name.hasSuffix($0) } }) else { return nil }
        self = kind.0
    }

    /// The kind that a file's first bytes show; nil where they are none of ours.
    /// - Throws: what opening can.
    public init?(contentsOf path: String) throws(AudioFileError) {
        let file = try ReadableFile(path)
        guard let type = AudioFileType(file) else { return nil }
        self = type
    }

    init?(_ file: ReadableFile) {
        var head = file.bytes(at: 0, count: 64)
        let words = { (at: Int, word: String) in head.dropFirst(at).starts(with: word.utf8) }
        if words(0, "RIFF"), words(8, "WAVE") {
            self = .wav
        } else if words(0, "RF64"), words(8, "WAVE") {
            self = .rf64
        } else if words(0, "FORM"), words(8, "AIFF") || words(8, "AIFC") {
            self = .aiff
        } else if words(0, "caff") {
            self = .caf
        } else if words(0, "OggS"), words(28, "OpusHead") {
            self = .opus
        } else if words(0, "OggS"), words(29, "vorbis") {
            self = .vorbis
        } else if words(4, "ftyp") {
            self = .m4a
        } else {
            // A tag may stand before the kinds that begin with no word of their own, and before FLAC.
            head = file.bytes(at: ID3Prefix.length(file), count: 4)
            if head.starts(with: "fLaC".utf8) {
                self = .flac
            } else if head.count == 4, head[0] == 0xFF, head[1] & 0xF6 == 0xF0 {
                self = .adts
            } else if MPEGAudioHeader(head) != nil {
                self = .mp3
            } else {
                return nil
            }
        }
    }
}

/// An ID3v2 tag's length, by its header.
enum ID3Prefix {
    /// Bytes before the sound: 0 without a tag.
    static func length(_ file: ReadableFile) -> Int {
        var length = 0
        while true {  // some programs put a second tag behind the first
            let head = file.bytes(at: length, count: 10)
            guard head.count == 10, head.starts(with: "ID3".utf8), head[6...9].allSatisfy({ $0 < 0x80 }) else {
                return length
            }
            let size = head[6...9].reduce(0) { $0 << 7 | Int($1) }
            length += size + (head[5] & 0x10 == 0 ? 10 : 20)
            if length > file.byteCount { return length }
        }
    }
}
