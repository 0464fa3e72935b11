// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A plain file, open for reading at any offset. Releasing it closes the descriptor.
package final class ReadableFile {
    package let path: String
    package let descriptor: CInt
    package let byteCount: Int

    /// Opens a file.
    /// - Throws: missing, not permitted, a folder, not a plain file.
    package init(_ path: String) throws(AudioFileError) {
        // Non-blocking, so that opening a pipe does not wait; plain files ignore it.
        descriptor = Glibc.open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        self.path = path
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            byteCount = 0
            throw .from(errno: errno, path: path)
        }
        byteCount = Int(status.st_size)
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory(path: path)
        default: throw .notRegular(path: path)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads up to `count` bytes from `offset`: fewer only at the end of the file or after a read error.
    package func bytes(at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = fill(UnsafeMutableRawBufferPointer(buffer), from: offset).count
        }
    }

    /// Reads from `offset` on until `bytes` is full or the file ends.
    /// - Returns: the number of bytes read.
    /// - Throws: a system error.
    package func read(at offset: Int, into bytes: UnsafeMutableRawBufferPointer) throws(AudioFileError) -> Int {
        let (count, code) = fill(bytes, from: offset)
        guard code == 0 else { throw .from(errno: code, path: path) }
        return count
    }

    /// Reads bytes from `offset` on. Returns the number of bytes read, and the errno that ended the reading, or 0.
    func fill(_ bytes: UnsafeMutableRawBufferPointer, from offset: Int) -> (count: Int, code: CInt) {
        var done = 0
        while done < bytes.count {
            let got = pread(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
            if got < 0, errno == EINTR { continue }
            if got < 0 { return (done, errno) }
            if got == 0 { break }
            done += got
        }
        return (done, 0)
    }
}
