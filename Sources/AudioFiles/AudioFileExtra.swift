// SPDX-License-Identifier: Apache-2.0

/// Content of a sound file besides its sound, tags and pictures.
package enum AudioFileExtra: String, Sendable, CaseIterable {
    /// Chapters of ID3v2 or MPEG-4.
    case chapters
    /// Named positions in WAV or AIFF.
    case markers
    /// A sampler's loops in WAV.
    case loops
    /// A FLAC file's cue sheet.
    case cueSheet
    /// The broadcast extension of a WAV (EBU Tech 3285): the time at which the sound begins, its origin and description.
    case broadcastInfo
    /// The iXML of a WAV: scene, take, tracks.
    case productionNotes

    /// The maximum number of chunks, blocks or frames that are searched.
    private static let maximumCount = 10_000

    /// Returns the extras of a WAV, AIFF, FLAC or MP3 file; empty for other types.
    package static func all(in file: ReadableFile) -> [AudioFileExtra] {
        let found: Set<AudioFileExtra>
        switch AudioFileType(file) {
        case .wav, .rf64: found = chunks(file, isBigEndian: false)
        case .aiff: found = chunks(file, isBigEndian: true)
        case .flac: found = flacBlocks(file)
        case .mp3: found = hasChapters(id3: file) ? [.chapters] : []
        default: found = []
        }
        return allCases.filter(found.contains)
    }

    private static func chunks(_ file: ReadableFile, isBigEndian: Bool) -> Set<AudioFileExtra> {
        var found: Set<AudioFileExtra> = []
        var offset = 12
        for _ in 0..<maximumCount {
            let head = StreamBuffer(file.bytes(at: offset, count: 48))
            guard head.count >= 8 else { break }
            var size = isBigEndian ? head.bigEndian(4, 4) : head.littleEndian(4, 4)
            func number(_ at: Int) -> Int { head.count >= at + 4 ? head.littleEndian(at, 4) : 0 }
            if head.begins(with: "cue "), number(8) > 0 { found.insert(.markers) }
            if head.begins(with: "smpl"), number(36) > 0 { found.insert(.loops) }
            if head.begins(with: "bext") { found.insert(.broadcastInfo) }
            if head.begins(with: "iXML") { found.insert(.productionNotes) }
            if head.begins(with: "MARK"), head.count >= 10, head.bigEndian(8, 2) > 0 { found.insert(.markers) }
            // An RF64 file has the size of its data in its first chunk, `ds64`.
            if head.begins(with: "data"), size == Int(UInt32.max) {
                size = StreamBuffer(file.bytes(at: 28, count: 8)).littleEndian(0, 8)
            }
            guard size >= 0, size < file.byteCount else { break }
            offset += 8 + size + size % 2
        }
        return found
    }

    private static func flacBlocks(_ file: ReadableFile) -> Set<AudioFileExtra> {
        var offset = ID3Prefix.length(file) + 4
        for _ in 0..<maximumCount {
            let head = StreamBuffer(file.bytes(at: offset, count: 4))
            guard head.count == 4 else { break }
            if head[0] & 0x7F == 5 { return [.cueSheet] }
            guard head[0] & 0x80 == 0 else { break }
            offset += 4 + head.bigEndian(1, 3)
        }
        return []
    }

    /// Returns true if an ID3v2.3 or 2.4 tag at the beginning has a chapter (ID3v2 Chapter Frame Addendum).
    private static func hasChapters(id3 file: ReadableFile) -> Bool {
        let head = StreamBuffer(file.bytes(at: 0, count: 16))
        guard head.count == 16, head.begins(with: "ID3"), head[3] == 3 || head[3] == 4 else { return false }
        let isSyncSafe = head[3] == 4
        func size(_ bytes: StreamBuffer, _ at: Int, _ isSyncSafe: Bool) -> Int {
            guard isSyncSafe else { return bytes.bigEndian(at, 4) }
            return (0..<4).reduce(0) { $0 << 7 | Int(bytes[at + $1] & 0x7F) }
        }
        let end = 10 + size(head, 6, true)
        var offset = 10
        if head[5] & 0x40 != 0 { offset += size(head, 10, isSyncSafe) + (isSyncSafe ? 0 : 4) }
        for _ in 0..<maximumCount where offset + 10 <= end {
            let frame = StreamBuffer(file.bytes(at: offset, count: 10))
            guard frame.count == 10, frame[0] != 0 else { break }
            if frame.begins(with: "CHAP") { return true }
            offset += 10 + size(frame, 4, isSyncSafe)
        }
        return false
    }
}
