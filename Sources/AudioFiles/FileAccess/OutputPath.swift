// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// Checks and opens the path of a file to write.
package enum OutputPath {
    /// The maximum number of symbolic links to follow in a row, as in Linux.
    package static let linkLimit = 40

    /// Throws if the file cannot be written, without touching an existing one. A dangling link stays a link.
    package static func check(_ path: String) throws(AudioFileError) {
        var name = path
        for _ in 0..<linkLimit {
            let system = PathText.bytes(name)
            let exists = access(system, F_OK) == 0
            let creation = exists ? 0 : O_CREAT | O_EXCL
            let descriptor = Glibc.open(system, O_WRONLY | creation | O_CLOEXEC | O_NONBLOCK, 0o600)
            if descriptor >= 0 {
                Glibc.close(descriptor)
                if !exists { unlink(system) }
                return
            }
            // The path is a dangling link, or another program created the file meanwhile.
            guard errno == EEXIST else { throw .from(errno: errno, path: path, creating: true) }
            name = link(at: name) ?? name
        }
        throw .from(errno: ELOOP, path: path)
    }

    /// Returns the path to which a symbolic link points, starting with the link's folder if relative; nil if `path` is no link.
    package static func link(at path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(PathText.bytes(path), &bytes, bytes.count)
        guard count > 0 else { return nil }
        let target = PathText.text(bytes.prefix(count).map { UInt8(bitPattern: $0) })
        guard target.utf8.first != UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return target
        }
        return (String(path.utf8[...slash]) ?? "") + target
    }

    /// Deletes a file; symbolic links to the file stay.
    package static func remove(_ path: String) {
        guard let resolved = realpath(PathText.bytes(path), nil) else { return }
        unlink(resolved)
        free(resolved)
    }

    /// Creates or truncates a file; a new one has mode 0600. Returns its descriptor.
    package static func open(_ path: String) throws(AudioFileError) -> CInt {
        let descriptor = Glibc.open(PathText.bytes(path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path, creating: true) }
        var status = stat()
        let code = fstat(descriptor, &status) == 0 ? 0 : errno
        // A character device seeks and reports when it is full (/dev/null, /dev/full); the header of a pipe cannot be corrected.
        let fits = [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT)
        if code == 0, fits { return descriptor }
        Glibc.close(descriptor)
        throw code == 0 ? .notRegular(path: path) : .from(errno: code, path: path)
    }
}
