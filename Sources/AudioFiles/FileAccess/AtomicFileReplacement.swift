// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A new file beside an output that gets the output's name once it is complete. After a crash of the program or the machine the
/// name stands for the complete old file or the complete new one.
///
/// It is deleted with this object unless it was committed; a kill may leave it, as `.earshot-` and six letters. A link goes on
/// being one: the file that it names is replaced. A file that is replaced leaves its owner and mode to the new one.
package final class AtomicFileReplacement {
    /// The new file until it is committed: in the output's folder, so that renaming is one step.
    package let path: String
    /// The file that is replaced, by no link.
    package let target: String
    private let output: String
    private let replaced: stat?
    private var isPending = true

    /// Creates an empty file with mode 0600; once committed, a new file has the mode that the umask leaves.
    /// - Throws: of the output: a folder, not a plain file, not permitted, missing folder, disk full, system.
    package init(of output: String) throws(AudioFileError) {
        self.output = output
        target = Self.destination(of: output)
        replaced = try Self.status(of: target, named: output)
        var template = Array((Self.folder(of: target) + ".earshot-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output, creating: true) }
        close(descriptor)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Creates a copy of a file, which is to replace it.
    /// - Throws: as ``init(of:)``, and what reading and writing can.
    package convenience init(copying source: ReadableFile) throws(AudioFileError) {
        try self.init(of: source.path)
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

    deinit { if isPending { unlink(path) } }

    /// Waits until the disk has the file, then gives it the output's name.
    /// - Throws: not permitted, disk full, system; the file is deleted with this object then.
    package func commit() throws(AudioFileError) {
        try settle()
        guard rename(path, target) == 0 else { throw .from(errno: errno, path: output) }
        isPending = false
        let folder = open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func settle() throws(AudioFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output) }
        defer { close(descriptor) }
        if let replaced {
            // Only root can give a file away; otherwise it is the caller's, as a new one would be.
            _ = fchown(descriptor, replaced.st_uid, replaced.st_gid)
            guard fchmod(descriptor, replaced.st_mode & 0o7777) == 0 else { throw .from(errno: errno, path: output) }
        } else {
            _ = fchmod(descriptor, 0o666 & ~FileMode.mask)
        }
        // Some file systems have no way to force a file to the disk.
        if fsync(descriptor) != 0, errno != EINVAL { throw .from(errno: errno, path: output) }
    }

    /// Returns the state of the plain file at the target; nil if there is none.
    private static func status(of target: String, named output: String) throws(AudioFileError) -> stat? {
        var status = stat()
        guard stat(target, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw .from(errno: errno, path: output, creating: true)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory(path: output)
        default: throw .notRegular(path: output)
        }
        // A user who may not write the file must not replace it either.
        guard access(target, W_OK) == 0 else { throw .from(errno: errno, path: output, creating: true) }
        return status
    }

    /// Returns the place where a file written to a path comes to be: links followed, also one to a missing file, and the folder by
    /// the one name that has no links in it. A path whose folder is missing stays as it is.
    package static func destination(of path: String) -> String {
        var path = path
        for _ in 0..<OutputPath.linkLimit {
            guard let link = OutputPath.link(at: path) else { break }
            path = link
        }
        guard let resolved = realpath(folder(of: path), nil) else { return path }
        defer { free(resolved) }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return "\(String(cString: resolved))/\(name)"
    }

    /// Returns a path's folder, with the slash at its end.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }
}
