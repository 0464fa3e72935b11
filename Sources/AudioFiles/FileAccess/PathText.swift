// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Paths as text. A name on a disk is bytes, which need not be UTF-8: old archives have names in Latin-1. Each byte that is not part
/// of UTF-8 becomes the private-use character U+10FF00 plus the byte, as Python's `surrogateescape` does with other characters; a
/// system call gets the byte back.
package enum PathText {
    private static let base: UInt32 = 0x10_FF00
    /// Only bytes from 0x80 on can be invalid, so no such character stands for a slash or a terminating zero.
    private static let escapes: ClosedRange<UInt32> = 0x10_FF80...0x10_FFFF

    /// Returns the text of a path's bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isEscape) {
            return text
        }
        var text = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var index = 0
        func escape(_ count: Int) {
            for byte in bytes[index..<index + count] {
                if let scalar = Unicode.Scalar(base + UInt32(byte)) { text.append(scalar) }
            }
        }
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                // A name that contains such a character is kept apart from an escaped byte.
                if isEscape(scalar) { escape(encoded.count) } else { text.append(scalar) }
                index += encoded.count
            case .error(let length):
                escape(length)
                index += length
            case .emptyInput: return String(text)
            }
        }
    }

    /// Returns the text of a null-terminated path.
    package static func text(_ path: UnsafePointer<CChar>) -> String {
        text(Array(UnsafeRawBufferPointer(start: path, count: strlen(path))))
    }

    /// Returns the last component of a path; empty for the root.
    package static func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// Returns a path's bytes with a terminating zero, for a system call.
    package static func bytes(_ text: String) -> [CChar] {
        guard text.unicodeScalars.contains(where: isEscape) else { return Array(text.utf8CString) }
        var bytes: [CChar] = []
        for scalar in text.unicodeScalars {
            if isEscape(scalar) {
                bytes.append(CChar(bitPattern: UInt8(scalar.value - base)))
            } else {
                bytes += scalar.utf8.map { CChar(bitPattern: $0) }
            }
        }
        return bytes + [0]
    }

    /// Returns true for a character that stands for a byte.
    package static func isEscape(_ scalar: Unicode.Scalar) -> Bool { escapes.contains(scalar.value) }

    /// Returns the names in a folder, except `.` and `..`; nil if it cannot be read.
    package static func names(inFolder path: String) -> [String]? {
        guard let folder = opendir(bytes(path)) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { return errno == 0 ? names : nil }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { text(Array($0.prefix { $0 != 0 })) }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Creates a folder and those that contain it, as `mkdir -p` does. Returns the errno of a failure; nil if the folder exists now.
    /// - Parameter mode: the mode of new folders, without the bits of the umask.
    package static func makeFolder(_ path: String, mode: mode_t = 0o777) -> CInt? {
        var end = path.startIndex
        while end < path.endIndex {
            end = path.utf8[path.utf8.index(after: end)...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
            guard mkdir(bytes(String(path[..<end])), mode) != 0, errno != EEXIST else { continue }
            let code = errno
            // An existing folder on a read-only file system, for example.
            if status(String(path[..<end])).map({ $0.st_mode & S_IFMT == S_IFDIR }) != true { return code }
        }
        return status(path).map { $0.st_mode & S_IFMT == S_IFDIR } == true ? nil : ENOTDIR
    }

    /// Returns what `stat` says of a path, or of a link itself; nil if it does not exist, with `errno`.
    package static func status(_ path: String, followsLinks: Bool = true) -> stat? {
        var status = stat()
        let code = followsLinks ? stat(bytes(path), &status) : lstat(bytes(path), &status)
        return code == 0 ? status : nil
    }

    /// Returns true if two paths lead to the same file.
    package static func isSameFile(_ a: String, _ b: String) -> Bool {
        guard let one = status(a), let other = status(b) else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }
}
