// SPDX-License-Identifier: Apache-2.0

import CEarshotTagLib
import Glibc

extension AudioFileTags {
    /// Reads a file's tags; a kind that keeps none (CAF, RF64, ADTS) has none.
    /// - Throws: what opening can, ``AudioFileError/damaged(path:reason:)``, ``AudioFileError/tagsTooLarge(path:)``.
    public init(path: String) throws(AudioFileError) {
        self = try TaggedFile(try ReadableFile(path)).tags
    }

    /// Puts these tags in place of those that a file has, and leaves its sound as it is.
    ///
    /// It writes a copy, then exchanges the two, so whatever happens there is one whole file of that name, with its mode; a kill
    /// may leave the copy, `.earshot-` and six letters, beside it. Of an MP3's tags it writes ID3v2.4 and takes older ones away.
    /// The copy's tags are read before the exchange.
    /// - Throws: what opening and writing can, ``AudioFileError/tagsRefused(path:detail:)``,
    ///   ``AudioFileError/damaged(path:reason:)``, ``AudioFileError/tagsTooLarge(path:)``. The file is then unchanged. Refused
    ///   are M4A files whose atoms do not fit into one another, and those whose sound would not be found after a change:
    ///   `moov` without a size of its own or with a 64-bit one and no tags yet, fragments behind the first with a base of
    ///   their own, chunks that would pass 4 GiB.
    public func write(to path: String) throws(AudioFileError) {
        let source = try ReadableFile(path)
        guard let type = AudioFileType(source), let kind = TaggedFile.kind(type) else {
            throw .tagsRefused(path: path, detail: "a file of this kind keeps none")
        }
        let fields = try checkedFields(path, type)
        for picture in pictures where picture.bytes.count > Picture.maximumByteCount {
            throw .tagsRefused(path: path, detail: "a picture has \(picture.bytes.count) bytes, more than 32 MiB")
        }
        let copy = try AtomicFileReplacement(copying: source)
        let descriptor = open(copy.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path) }
        defer { close(descriptor) }
        let code = descriptor.withTags(kind, fields, pictures)
        if code != 0 { throw TaggedFile.error(code, path) }
        try TaggedFile.check(descriptor, kind, path: path)
        try copy.commit()
    }

    /// Removes the fields that no file can store: those whose names are not ASCII or contain =.
    /// - Returns: their names, in order.
    package mutating func removeUnwritableFields() -> [String] {
        let names = fields.keys.filter { !Self.isWritable($0) }.sorted()
        for name in names { fields[name] = nil }
        return names
    }

    private static func isWritable(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x20...0x7D).contains($0) && $0 != 0x3D }
    }

    /// Every value with its name, as the kind wants it.
    private func checkedFields(_ path: String, _ type: AudioFileType) throws(AudioFileError) -> [(String, String)] {
        var all: [(String, String)] = []
        for (name, values) in fields.sorted(by: { $0.key < $1.key }) {
            guard Self.isWritable(name) else {
                throw .tagsRefused(path: path, detail: "the name \"\(name)\" is not of plain letters without =")
            }
            for value in values { all.append((name.uppercased(), value)) }
        }
        guard [.flac, .vorbis, .opus].contains(type) else { return all }
        // Vorbis comments have the total in a field of its own.
        return all.flatMap { name, value -> [(String, String)] in
            let parts = value.split(separator: "/", maxSplits: 1).map(String.init)
            guard let total = TaggedFile.totals.first(where: { $0.number == name }), parts.count == 2 else {
                return [(name, value)]
            }
            return [(name, parts[0]), (total.total, parts[1])]
        }
    }
}

extension CInt {
    /// Writes tags to an open file; 0, or what went wrong.
    fileprivate func withTags(
        _ kind: CInt, _ fields: [(String, String)], _ pictures: [AudioFileTags.Picture]
    ) -> CInt {
        // All bytes in one piece, which the views below look into.
        var bytes: [CChar] = []
        func add(_ text: some Sequence<UInt8>) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: text.lazy.map { CChar(bitPattern: $0) })
            return start..<bytes.count
        }
        let names = fields.map { (add($0.0.utf8), add($0.1.utf8)) }
        let images = pictures.map { (add($0.mimeType.utf8), add($0.description.utf8), add($0.bytes), $0.kind.rawValue) }
        if bytes.isEmpty { bytes = [0] }
        return bytes.withUnsafeBufferPointer { all in
            let view = { (range: Range<Int>) in
                earshot_text(bytes: all.baseAddress.map { $0 + range.lowerBound }, count: range.count)
            }
            let fields = names.map { earshot_field(name: view($0.0), value: view($0.1)) }
            let pictures = images.map {
                earshot_picture(mime_type: view($0.0), description: view($0.1), data: view($0.2), kind: CInt($0.3))
            }
            return earshot_tags_write(self, kind, fields, fields.count, pictures, pictures.count)
        }
    }
}
