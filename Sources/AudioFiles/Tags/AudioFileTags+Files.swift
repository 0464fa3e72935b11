// SPDX-License-Identifier: Apache-2.0

import CEarshotTagLib
import Glibc

extension AudioFileTags {
    /// Reads a file's tags; a type without tags (CAF, RF64, ADTS) has none.
    /// - Throws: errors of opening, ``AudioFileError/damaged(path:reason:)``, ``AudioFileError/tagsTooLarge(path:)``.
    public init(path: String) throws(AudioFileError) {
        self = try TaggedFile(try ReadableFile(path)).tags
    }

    /// Replaces a file's tags and leaves its sound unchanged.
    ///
    /// The tags are written into a copy, which is then renamed. So the name always belongs to a complete file, with the same
    /// mode; a kill may leave the copy, named `.earshot-` and six letters, beside the file. In an MP3, ID3v2.4 is written and
    /// older tags are removed. The copy's tags are verified before the renaming.
    /// - Throws: errors of opening and writing, ``AudioFileError/tagsRefused(path:detail:)``,
    ///   ``AudioFileError/damaged(path:reason:)``, ``AudioFileError/tagsTooLarge(path:)``. The file is then unchanged. Refused
    ///   are M4A files with inconsistent atoms, and those whose sound could not be located after a change: `moov` without a size
    ///   or with a 64-bit one and no tags yet, later fragments with their own base offset, chunks that would pass 4 GiB.
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
        let descriptor = open(PathText.bytes(copy.path), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path) }
        defer { close(descriptor) }
        let code = descriptor.withTags(kind, fields, pictures)
        if code != 0 { throw TaggedFile.error(code, path) }
        try TaggedFile.check(descriptor, kind, path: path)
        try copy.commit()
    }

    /// Removes the fields that no file can store: names that are empty, are not printable ASCII, or contain `=` or `~`.
    /// - Returns: the removed names, in order.
    package mutating func removeUnwritableFields() -> [String] {
        let names = fields.keys.filter { !Self.isWritable($0) }.sorted()
        for name in names { fields[name] = nil }
        return names
    }

    private static func isWritable(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x20...0x7D).contains($0) && $0 != 0x3D }
    }

    /// Returns all values with their names, as the file type requires. Throws if a name cannot be written.
    private func checkedFields(_ path: String, _ type: AudioFileType) throws(AudioFileError) -> [(String, String)] {
        var all: [(String, String)] = []
        for (name, values) in fields.sorted(by: { $0.key < $1.key }) {
            guard Self.isWritable(name) else {
                throw .tagsRefused(path: path, detail: "the name \"\(name)\" is not of plain letters without =")
            }
            for value in values { all.append((name.uppercased(), value)) }
        }
        guard [.flac, .vorbis, .opus].contains(type) else { return all }
        // Vorbis comments have a separate field for the total.
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
    /// Passes tags to an open file. Returns 0 or an error code.
    fileprivate func withTags(
        _ kind: CInt, _ fields: [(String, String)], _ pictures: [AudioFileTags.Picture]
    ) -> CInt {
        // All bytes are in one array, to which the views below point.
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
