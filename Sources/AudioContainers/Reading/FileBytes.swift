import AudioFiles
import Glibc

/// A plain file that is read at any offset.
final class FileBytes {
    /// Where it is.
    let path: String
    /// Its size when it was opened.
    let byteCount: Int
    private let descriptor: CInt

    /// Throws what opening can: missing, not permitted, a folder, not a plain file.
    init(path: String) throws(AudioFileError) {
        // Non-blocking, so that a pipe cannot hang the open; it means nothing to a plain file.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            Glibc.close(descriptor)
            throw isFolder ? .directory(path: path) : .notRegular(path: path)
        }
        self.path = path
        self.descriptor = descriptor
        byteCount = Int(status.st_size)
    }

    deinit { Glibc.close(descriptor) }

    /// Reads from `offset` on until `bytes` is full or the file ends.
    /// - Returns: bytes read.
    func read(at offset: Int, into bytes: UnsafeMutableRawBufferPointer) throws(AudioFileError) -> Int {
        var done = 0
        while done < bytes.count {
            let got = pread(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .from(errno: errno, path: path) }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Up to `count` bytes from `offset` on; fewer where the file ends.
    func bytes(at offset: Int, count: Int) throws(AudioFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        do {
            try bytes.withUnsafeMutableBytes { got = try read(at: offset, into: $0) }
        } catch let error as AudioFileError {
            throw error
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
        bytes.removeLast(count - got)
        return bytes
    }
}
