import AudioBase
import Glibc

/// A file to write sound to.
package enum WritableFile {
    /// Whether it can be written, without touching one that is there.
    package static func check(_ path: String) throws(AudioFileError) {
        let isThere = access(path, F_OK) == 0
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path, creating: true) }
        Glibc.close(descriptor)
        if !isThere { unlink(path) }
    }

    /// Creates or empties it; a new one has mode 0600. Returns its descriptor.
    package static func open(_ path: String) throws(AudioFileError) -> CInt {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path, creating: true) }
        var status = stat()
        let code = fstat(descriptor, &status) == 0 ? 0 : errno
        // A character device seeks and says when it is full (/dev/null, /dev/full); a pipe cannot have its header mended.
        let fits = [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT)
        if code == 0, fits { return descriptor }
        Glibc.close(descriptor)
        throw code == 0 ? .notRegular(path: path) : .from(errno: code, path: path)
    }
}
