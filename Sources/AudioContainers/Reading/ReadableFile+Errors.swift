import AudioFiles
import Glibc

extension ReadableFile {
    /// Reads from `offset` on until `bytes` is full or the file ends.
    /// - Returns: bytes read.
    /// - Throws: what the system says of it.
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
}
