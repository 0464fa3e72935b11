// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file to which whole pieces are appended: of a piece that does not fit on the disk nothing stays. Or a stream, which supports
/// only ``append(_:)`` and ``close()``.
package final class AppendingFile {
    /// The file's path.
    package let path: String
    /// The bytes written.
    package private(set) var byteCount = 0
    /// The stream; nil for a file.
    package let stream: NonSeekableOutput?
    private let descriptor: CInt
    private var isOpen = true

    /// Creates or truncates a file; a new file has mode 0600.
    package init(path: String) throws(AudioFileError) {
        descriptor = try OutputPath.open(path)
        self.path = path
        stream = nil
    }

    /// Creates an object that appends to a stream.
    package init(_ stream: NonSeekableOutput) {
        descriptor = -1
        path = stream.name
        self.stream = stream
    }

    deinit { if isOpen, stream == nil { Glibc.close(descriptor) } }

    /// Appends all bytes. After an error a file has none of them.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(AudioFileError) {
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

    /// Appends all bytes. After an error a file has none of them.
    package func append(_ bytes: [UInt8]) throws(AudioFileError) {
        var failure: AudioFileError?
        bytes.withUnsafeBytes { bytes in
            do throws(AudioFileError) { try append(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Overwrites existing bytes.
    package func overwrite(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(AudioFileError) {
        let code = put(bytes, at: offset)
        if code != 0 { throw .from(errno: code, path: path) }
    }

    /// Overwrites existing bytes.
    package func overwrite(_ bytes: [UInt8], at offset: Int) throws(AudioFileError) {
        let code = bytes.withUnsafeBytes { put($0, at: offset) }
        if code != 0 { throw .from(errno: code, path: path) }
    }

    /// Truncates the file to `byteCount`.
    package func truncate(to byteCount: Int) {
        _ = ftruncate(descriptor, off_t(byteCount))
        self.byteCount = byteCount
    }

    /// Waits until all bytes are on the disk; ignores devices that cannot be synced.
    package func synchronize() throws(AudioFileError) {
        if fsync(descriptor) != 0, ![EINVAL, EROFS].contains(errno) { throw .from(errno: errno, path: path) }
    }

    /// Closes the file or the stream. A second call does nothing.
    package func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        if let stream { return try stream.close() }
        // A network file system may report only here that its disk is full.
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
