// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The types of sound files.
public enum AudioFileType: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// WAV, with or without a broadcast extension (BWF); at most 4 GiB.
    case wav
    /// WAV that becomes RF64 above 4 GiB; below it is a plain WAV.
    case rf64
    /// AIFF or AIFF-C; at most 4 GiB.
    case aiff
    /// Apple's Core Audio Format, of any length.
    case caf
    /// FLAC, lossless.
    case flac
    /// Vorbis in Ogg.
    case vorbis
    /// Opus in Ogg.
    case opus
    /// MPEG audio of any layer, without a container.
    case mp3
    /// MPEG-4 audio: AAC or Apple Lossless.
    case m4a
    /// AAC without a container (ADTS).
    case adts

    /// The display name.
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

    /// The usual extension of a file's name, without the dot.
    package var fileExtension: String {
        switch self {
        case .wav, .rf64: "wav"
        case .vorbis: "ogg"
        case .adts: "aac"
        default: rawValue
        }
    }

    /// Returns the type of a file name's extension, with ``rf64`` for `.wav`; nil if it is unknown.
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

    /// Returns the type of a file by its first bytes; nil if it is unknown.
    /// - Throws: ``AudioFileError`` of opening the file.
    public init?(contentsOf path: String) throws(AudioFileError) {
        let file = try ReadableFile(path)
        guard let type = AudioFileType(file) else { return nil }
        self = type
    }

    /// Returns the type whose signature is at the beginning of `bytes`; nil for MPEG audio and ADTS, which have none, and unknown
    /// types.
    init?(prefix bytes: StreamBuffer) {
        if bytes.begins(with: "RIFF"), bytes.begins(with: "WAVE", at: 8) {
            self = .wav
        } else if bytes.begins(with: "RF64") || bytes.begins(with: "BW64"), bytes.begins(with: "WAVE", at: 8) {
            self = .rf64
        } else if bytes.begins(with: "FORM"), bytes.begins(with: "AIFF", at: 8) || bytes.begins(with: "AIFC", at: 8) {
            self = .aiff
        } else if bytes.begins(with: "caff") {
            self = .caf
        } else if bytes.begins(with: "fLaC") {
            self = .flac
        } else if bytes.begins(with: "OggS"), bytes.begins(with: "OpusHead", at: 28) {
            self = .opus
        } else if bytes.begins(with: "OggS"), bytes.begins(with: "vorbis", at: 29) {
            self = .vorbis
        } else if Self.isMovie(bytes) {
            self = .m4a
        } else {
            return nil
        }
    }

    private static func isMovie(_ bytes: StreamBuffer) -> Bool {
        if bytes.begins(with: "ftyp", at: 4) || bytes.begins(with: "mdat", at: 4) { return true }
        // A text may have these words here too, but then its first byte is a character. A box begins with its size.
        return bytes.count > 0 && bytes[0] < 0x20
            && ["moov", "free", "wide", "skip"].contains { bytes.begins(with: $0, at: 4) }
    }

    /// Returns the type of a file by its first bytes; nil if it is unknown.
    package init?(_ file: ReadableFile) {
        if let type = AudioFileType(prefix: StreamBuffer(file.bytes(at: 0, count: 64))) {
            self = type
            return
        }
        // An ID3 tag may precede FLAC, and types that have no signature.
        let start = ID3Prefix.length(file)
        let bytes = StreamBuffer(file.bytes(at: start, count: 8_192 + FrameHeader.byteCount))
        if AudioFileType(prefix: bytes) == .flac {
            self = .flac
        } else if let frame = FrameHeader(bytes, at: 0) {
            // The two bytes of an ADTS sync word also occur by chance, so another frame, a tag or the end of `bytes` must follow.
            if frame.codec == .aac, !frame.isFollowed(in: bytes) { return nil }
            self = frame.codec == .aac ? .adts : .mp3
        } else {
            return nil
        }
    }
}
