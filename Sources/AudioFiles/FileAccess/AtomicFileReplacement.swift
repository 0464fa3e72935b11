// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Replaces a file atomically: a new file beside it takes its name when complete. After a crash of the program or the machine the
/// name belongs to the complete old file or the complete new one.
///
/// A new file that is not committed is deleted with this object; a kill may leave it, named `.earshot-` and six letters. A
/// symbolic link stays, and the file to which it points is replaced. The new file gets the owner and mode of the old one.
package final class AtomicFileReplacement {
    /// The path of the new file until it is committed: in the folder of ``target``, so that renaming is one step.
    package let path: String
    /// The path of the file to replace, with symbolic links resolved.
    package let target: String
    private let output: String
    private let replaced: stat?
    private let isPrivate: Bool
    private var isPending = true

    /// Creates an empty file with mode 0600. A committed file has the mode of the replaced one, or the one that the umask leaves.
    /// - Parameter isPrivate: true to keep mode 0600 if no file is replaced.
    /// - Throws: for the output: a folder, not a plain file, not permitted, missing folder, disk full, system.
    package init(of output: String, isPrivate: Bool = false) throws(AudioFileError) {
        self.output = output
        self.isPrivate = isPrivate
        target = Self.destination(of: output)
        replaced = try Self.status(of: target, named: output)
        var template = PathText.bytes(Self.folder(of: target) + ".earshot-XXXXXX")
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output, creating: true) }
        close(descriptor)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { PathText.text($0) } ?? "" }
    }

    /// Creates a copy of a file, which will replace that file.
    /// - Throws: as ``init(of:)``, and errors of reading and writing.
    package convenience init(copying source: ReadableFile) throws(AudioFileError) {
        try self.init(of: source.path, copying: source)
    }

    /// Creates a copy of a file, which will replace another file.
    /// - Throws: as ``init(of:isPrivate:)``, and errors of reading and writing.
    package convenience init(
        of output: String, copying source: ReadableFile, isPrivate: Bool = false
    ) throws(AudioFileError) {
        try self.init(of: output, isPrivate: isPrivate)
        do throws(AudioFileError) {
            let copy = try AppendingFile(path: path)
            while copy.byteCount < source.byteCount {
                let piece = source.bytes(at: copy.byteCount, count: 1 << 20)
                if piece.isEmpty { throw .from(errno: EIO, path: source.path) }
                try copy.append(piece)
            }
            try copy.close()
        } catch { throw error.named(output, insteadOf: path) }
    }

    deinit { if isPending { unlink(PathText.bytes(path)) } }

    /// Syncs the file to the disk, then renames it.
    /// - Throws: not permitted, disk full, system; the file is then deleted with this object.
    package func commit() throws(AudioFileError) {
        try settle()
        guard rename(PathText.bytes(path), PathText.bytes(target)) == 0 else { throw .from(errno: errno, path: output) }
        isPending = false
        let folder = open(PathText.bytes(Self.folder(of: target)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func settle() throws(AudioFileError) {
        let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output) }
        defer { close(descriptor) }
        if let replaced {
            // Only root can change the owner; otherwise the file belongs to the caller, as a new one would.
            _ = fchown(descriptor, replaced.st_uid, replaced.st_gid)
            guard fchmod(descriptor, replaced.st_mode & 0o7777) == 0 else { throw .from(errno: errno, path: output) }
        } else if !isPrivate {
            _ = fchmod(descriptor, 0o666 & ~FileMode.mask)
        }
        // Some file systems cannot sync a file.
        if fsync(descriptor) != 0, errno != EINVAL { throw .from(errno: errno, path: output) }
    }

    /// Returns the status of the plain file at the target; nil if there is none.
    private static func status(of target: String, named output: String) throws(AudioFileError) -> stat? {
        guard let status = PathText.status(target) else {
            if errno == ENOENT { return nil }
            throw .from(errno: errno, path: output, creating: true)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory(path: output)
        default: throw .notRegular(path: output)
        }
        // A user who may not write the file must not replace it either.
        guard access(PathText.bytes(target), W_OK) == 0 else { throw .from(errno: errno, path: output, creating: true) }
        return status
    }

    /// Returns the file that a write to a path creates or changes, with symbolic links resolved in the folder and the file, also
    /// one to a missing file. A path with a missing folder is returned unchanged.
    package static func destination(of path: String) -> String {
        var path = path
        for _ in 0..<OutputPath.linkLimit {
            guard let link = OutputPath.link(at: path) else { break }
            path = link
        }
        guard let resolved = realpath(PathText.bytes(folder(of: path)), nil) else { return path }
        defer { free(resolved) }
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        return "\(PathText.text(resolved))/\(name)"
    }

    /// Returns a path's folder, with a final slash.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path.utf8[...$0]) ?? "./" } ?? "./"
    }
}
