// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An output without seeking: a pipe, a terminal, or a file that is only appended to.
///
/// In a process that ignores SIGPIPE, a pipe whose reader has closed throws ``AudioFileError/notRead(path:)``. One thread at a time.
package final class NonSeekableOutput {
    /// The name in errors, such as `standard output`.
    package let name: String
    /// Bytes written.
    package private(set) var byteCount = 0
    private let descriptor: CInt
    private var isOpen = true
    /// Seconds that a reader may stand still.
    private let timeout: Double
    /// Bytes that a ready pipe accepts without blocking (POSIX's least PIPE_BUF is 512, Linux's 4,096).
    private static let piece = 4_096

    /// - Parameter descriptor: is duplicated, and stays open.
    package init(_ descriptor: CInt, name: String, timeout: Double = 5) throws(AudioFileError) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard self.descriptor >= 0 else { throw .from(errno: errno, path: name) }
        self.name = name
        self.timeout = timeout
    }

    deinit { if isOpen { Glibc.close(descriptor) } }

    /// Writes all of the bytes; waits for a reader that is busy, but not for one that stands still.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(AudioFileError) {
        var done = 0
        while done < bytes.count {
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let count = poll(&ready, 1, CInt(timeout * 1e3))
            if count == 0 { throw .notRead(path: name) }
            if count < 0, errno != EINTR { throw .from(errno: errno, path: name) }
            guard count > 0 else { continue }
            let written = Glibc.write(
                descriptor, bytes.baseAddress.map { $0 + done }, min(Self.piece, bytes.count - done))
            if written < 0, errno == EINTR || errno == EAGAIN { continue }
            if written < 0 { throw .from(errno: errno, path: name) }
            done += written
            byteCount += written
        }
    }

    /// Ends it; again does nothing.
    package func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        if Glibc.close(descriptor) != 0 { throw .from(errno: errno, path: name) }
    }
}
