// SPDX-License-Identifier: Apache-2.0

/// The length of an ID3v2 tag, by its header (ID3 tag version 2.4.0, main structure, 3.1).
package enum ID3Prefix {
    private static let headerLength = 10
    private static let maximumTagCount = 64

    /// Returns the length in bytes of the tag at the beginning of `bytes`; nil if there is no complete header.
    static func length(_ bytes: StreamBuffer) -> Int? {
        guard bytes.begins(with: "ID3"), bytes.count >= headerLength, bytes[3] < 0xFF, bytes[4] < 0xFF,
            (6..<10).allSatisfy({ bytes[$0] < 0x80 })
        else { return nil }
        let size = (6..<10).reduce(0) { $0 << 7 | Int(bytes[$1]) }
        return headerLength + size + (bytes[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Returns the length in bytes of the tags before a file's sound, 0 without a tag; some programs write a second tag after the
    /// first.
    package static func length(_ file: ReadableFile) -> Int {
        var length = 0
        for _ in 0..<maximumTagCount where length <= file.byteCount {
            guard let next = Self.length(StreamBuffer(file.bytes(at: length, count: headerLength))) else { break }
            length += next
        }
        return length
    }
}
