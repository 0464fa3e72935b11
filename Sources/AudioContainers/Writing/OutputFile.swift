import AudioFiles
import Glibc

/// A file that grows by whole pieces: what of a piece the disk had no room for is taken back. Or a stream, which is never gone
/// back in: of it only ``append(_:)`` and ``close()`` are used.
final class OutputFile {
    /// Where it is.
    let path: String
    /// Bytes written.
    private(set) var byteCount = 0
    /// Nil of a file, which can be gone back in.
    let stream: StreamOutput?
    private let descriptor: CInt
    private var isOpen = true

    /// Creates or empties it; a new one has mode 0600.
    init(path: String) throws(AudioFileError) {
        descriptor = try WritableFile.open(path)
        self.path = path
        stream = nil
    }

    init(_ stream: StreamOutput) {
        descriptor = -1
        path = stream.name
        self.stream = stream
    }

    deinit { if isOpen, stream == nil { Glibc.close(descriptor) } }

    /// Appends all of the bytes or none.
    func append(_ bytes: UnsafeRawBufferPointer) throws(AudioFileError) {
        if let stream {
            try stream.append(bytes)
            byteCount += bytes.count
            return
        }
        let code = put(bytes, at: byteCount)
        guard code == 0 else {
            truncate(to: byteCount)
            throw .from(errno: code, path: path)
        }
        byteCount += bytes.count
    }

    /// Appends all of the bytes or none.
    func append(_ bytes: [UInt8]) throws(AudioFileError) {
        do {
            try bytes.withUnsafeBytes { try append($0) }
        } catch let error as AudioFileError {
            throw error
        } catch {
            throw .system(path: path, code: EIO)
        }
    }

    /// Writes over bytes that are there.
    func overwrite(_ bytes: [UInt8], at offset: Int) throws(AudioFileError) {
        let code = bytes.withUnsafeBytes { put($0, at: offset) }
        if code != 0 { throw .from(errno: code, path: path) }
    }

    /// Takes back what lies behind `byteCount`.
    func truncate(to byteCount: Int) {
        _ = ftruncate(descriptor, off_t(byteCount))
        self.byteCount = byteCount
    }

    /// Waits until the disk has it all; what cannot be forced (a device) is none of our business.
    func synchronize() throws(AudioFileError) {
        if fsync(descriptor) != 0, ![EINVAL, EROFS].contains(errno) { throw .from(errno: errno, path: path) }
    }

    /// Closes it; again does nothing.
    func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        if let stream { return try stream.close() }
        // A network file system may report only here that its disk was full.
        if Glibc.close(descriptor) != 0 { throw .from(errno: errno, path: path) }
    }

    private func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> CInt {
        var done = 0
        while done < bytes.count {
            let written = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
            if written < 0, errno == EINTR { continue }
            if written < 0 { return errno }
            if written == 0 { return ENOSPC }
            done += written
        }
        return 0
    }
}
