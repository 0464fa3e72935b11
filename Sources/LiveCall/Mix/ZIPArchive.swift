// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A ZIP archive of small files without compression (PKWARE's APPNOTE 6.3.10).
enum ZIPArchive {
    /// 1 January 1980, the first date of the format, so that equal files give equal archives.
    private static let date = 0x21
    /// The names are UTF-8.
    private static let flags = 0x800

    /// Returns the archive. All files together must have less than 4 GiB.
    static func bytes(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in files {
            let offset = bytes.count
            var common: [UInt8] = []
            for value in [20, flags, 0, 0, date] { put(value, 2, in: &common) }
            for value in [Int(CRC32.of(content.span.bytes)), content.count, content.count] {
                put(value, 4, in: &common)
            }
            for value in [name.utf8.count, 0] { put(value, 2, in: &common) }
            put(0x0403_4B50, 4, in: &bytes)
            bytes += common + Array(name.utf8) + content
            put(0x0201_4B50, 4, in: &directory)
            put(20, 2, in: &directory)
            directory += common
            for value in [0, 0, 0] { put(value, 2, in: &directory) }  // comment, disk, internal attributes
            for value in [0, offset] { put(value, 4, in: &directory) }
            directory += Array(name.utf8)
        }
        let start = bytes.count
        bytes += directory
        put(0x0605_4B50, 4, in: &bytes)
        for value in [0, 0, files.count, files.count] { put(value, 2, in: &bytes) }
        for value in [directory.count, start] { put(value, 4, in: &bytes) }
        put(0, 2, in: &bytes)
        return bytes
    }

    private static func put(_ value: Int, _ byteCount: Int, in bytes: inout [UInt8]) {
        for k in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * k))) }
    }
}
