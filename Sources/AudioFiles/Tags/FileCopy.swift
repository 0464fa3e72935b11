import Glibc

/// A copy of a file beside it, to be changed and then put in its place. It is gone with this object, unless it was.
package final class FileCopy {
    package let descriptor: CInt
    /// Where the copy is, until it has the original's name.
    package let path: String
    /// The file, by no link.
    package let original: String
    private var isThere = true

    /// Copies a file, its mode included. Throws what creating and writing can.
    /// - Parameter isFilled: false leaves the copy empty.
    package init(_ source: ReadableFile, isFilled: Bool = true) throws(AudioFileError) {
        // A link is to go on being one: what it names is replaced.
        guard let resolved = realpath(source.path, nil) else { throw .from(errno: errno, path: source.path) }
        defer { free(resolved) }
        original = String(cString: resolved)
        // Who may not write the file must not replace it either.
        guard access(original, W_OK) == 0 else { throw .from(errno: errno, path: source.path) }
        let slash = original.lastIndex(of: "/") ?? original.startIndex
        var template = Array((original[...slash] + ".earshot-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        guard descriptor >= 0 else {
            isThere = false
            throw .from(errno: errno, path: source.path, creating: true)
        }
        do {
            try fill(source, isFilled)
        } catch {
            discard()
            throw error
        }
    }

    deinit { discard() }

    private func discard() {
        if isThere { unlink(path) }
        if descriptor >= 0, isOpen { close(descriptor) }
        isThere = false
        isOpen = false
    }
    private var isOpen = true

    private func fill(_ source: ReadableFile, _ isFilled: Bool) throws(AudioFileError) {
        var status = stat()
        guard fstat(source.descriptor, &status) == 0 else { throw .from(errno: errno, path: source.path) }
        // Only root can give a file away; without that it is the caller's, as a new one would be.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else { throw .from(errno: errno, path: source.path) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard isFilled else { return }
        var offset = 0
        while offset < Int(status.st_size) {
            let piece = source.bytes(at: offset, count: 1 << 20)
            if piece.isEmpty { throw .from(errno: EIO, path: source.path) }
            var done = 0
            while done < piece.count {
                let written = piece.withUnsafeBytes { bytes in
                    pwrite(descriptor, bytes.baseAddress.map { $0 + done }, piece.count - done, off_t(offset + done))
                }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw .from(errno: written < 0 ? errno : ENOSPC, path: source.path) }
                done += written
            }
            offset += piece.count
        }
    }

    /// Puts the copy in the original's place, once it is on the disk.
    package func replaceOriginal() throws(AudioFileError) {
        guard fsync(descriptor) == 0 else { throw .from(errno: errno, path: original) }
        guard rename(path, original) == 0 else { throw .from(errno: errno, path: original) }
        isThere = false
        let slash = original.lastIndex(of: "/") ?? original.startIndex
        let folder = Glibc.open(String(original[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        discard()
    }
}
