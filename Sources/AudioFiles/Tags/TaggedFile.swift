// SPDX-License-Identifier: Apache-2.0

import CEarshotTagLib

/// TagLib's view of an open file.
struct TaggedFile {
    /// The tags; empty if the type has none.
    var tags = AudioFileTags()
    /// The properties of the file's sound; nil if the type has no tags.
    var sound: earshot_sound?
    /// True if an ID3v2 tag has chapters.
    var hasChapters = false

    /// The fields whose total has a field of its own in Vorbis comments: `total` is the name to write, `others` are the names to
    /// read.
    static let totals = [
        (number: "TRACKNUMBER", total: "TRACKTOTAL", others: ["TRACKTOTAL", "TOTALTRACKS"]),
        (number: "DISCNUMBER", total: "DISCTOTAL", others: ["DISCTOTAL", "TOTALDISCS"]),
    ]

    init(_ file: ReadableFile) throws(AudioFileError) {
        guard let type = AudioFileType(file), let kind = Self.kind(type) else { return }
        var code: CInt = 0
        guard let read = earshot_tags_read(file.descriptor, kind, &code) else { throw Self.error(code, file.path) }
        defer { earshot_tags_free(read) }
        sound = earshot_tags_sound(read)
        hasChapters = earshot_tags_has_chapters(read) != 0
        for i in 0..<earshot_tags_field_count(read) {
            let field = earshot_tags_field(read, i)
            let name = Self.string(field.name).uppercased()
            let value = Self.string(field.value)
            if !name.isEmpty { tags.fields[name, default: []].append(value) }
        }
        let pictures = (0..<earshot_tags_picture_count(read)).map { i in
            let picture = earshot_tags_picture(read, i)
            return AudioFileTags.Picture(
                mimeType: Self.string(picture.mime_type), kind: .init(rawValue: UInt8(clamping: picture.kind)),
                description: Self.string(picture.description),
                bytes: [UInt8](UnsafeRawBufferPointer(start: picture.data.bytes, count: picture.data.count)))
        }
        tags.pictures = pictures
        for (number, _, others) in Self.totals {
            guard let total = Self.first(others, tags), let value = tags[number],
                !value.contains("/")
            else { continue }
            tags[number] = "\(value)/\(total)"
            for name in others { tags[name] = nil }
        }
    }

    /// Checks that the tags of an open file can be read.
    /// - Throws: ``AudioFileError/tagsTooLarge(path:)``, ``AudioFileError/tagsRefused(path:detail:)``; both name `path`.
    static func check(_ descriptor: CInt, _ kind: CInt, path: String) throws(AudioFileError) {
        var code: CInt = 0
        if let read = earshot_tags_read(descriptor, kind, &code) { return earshot_tags_free(read) }
        if Int(code) == EARSHOT_TAGS_TOO_LARGE { throw .tagsTooLarge(path: path) }
        throw .tagsRefused(path: path, detail: "they could not be read again")
    }

    private static func first(_ names: [String], _ tags: AudioFileTags) -> String? {
        names.lazy.compactMap { tags[$0] }.first
    }

    private static func string(_ text: earshot_text) -> String {
        String(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.count), as: UTF8.self)
    }

    /// Returns TagLib's number of a file type; nil if the type has no tags.
    static func kind(_ type: AudioFileType) -> CInt? {
        switch type {
        case .wav: CInt(EARSHOT_TAGS_WAV)
        case .aiff: CInt(EARSHOT_TAGS_AIFF)
        case .flac: CInt(EARSHOT_TAGS_FLAC)
        case .vorbis: CInt(EARSHOT_TAGS_VORBIS)
        case .opus: CInt(EARSHOT_TAGS_OPUS)
        case .mp3: CInt(EARSHOT_TAGS_MPEG)
        case .m4a: CInt(EARSHOT_TAGS_MP4)
        case .rf64, .caf, .adts: nil
        }
    }

    static func error(_ code: CInt, _ path: String) -> AudioFileError {
        switch Int(code) {
        case EARSHOT_TAGS_DAMAGED: .damaged(path: path, reason: "its tags cannot be found")
        case EARSHOT_TAGS_TOO_LARGE: .tagsTooLarge(path: path)
        case EARSHOT_TAGS_EXCEPTION: .damaged(path: path, reason: "its tags cannot be read")
        case EARSHOT_TAGS_INCONSISTENT: .damaged(path: path, reason: "its atoms contradict each other")
        case EARSHOT_TAGS_FIXED:
            .tagsRefused(path: path, detail: "its layout is fixed")
        default: .from(errno: code, path: path)
        }
    }
}
