// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An output without seeking: a pipe, a terminal, or a file for appending.
///
/// In a process that ignores SIGPIPE, a pipe whose reader has closed throws ``AudioFileError/notRead(path:)``. For one thread at
/// a time.
package final class NonSeekableOutput {
    /// The name in errors, such as `standard output`.
    package let name: String
    /// The bytes written.
    package private(set) var byteCount = 0
    private let descriptor: CInt
    private var isOpen = true
    /// The seconds for which the reader may read nothing before a write fails.
    private let timeout: Double
    /// The maximum bytes of a write: a ready pipe accepts them without blocking (POSIX requires a PIPE_BUF of 512, Linux has
    /// 4,096).
    private static let piece = 4_096

    /// - Parameter descriptor: duplicated; the caller's descriptor stays open.
    package init(_ descriptor: CInt, name: String, timeout: Double = 5) throws(AudioFileError) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard self.descriptor >= 0 else { throw .from(errno: errno, path: name) }
        self.name = name
        self.timeout = timeout
    }

    deinit { if isOpen { Glibc.close(descriptor) } }

    /// Writes all bytes. Waits for a slow reader, but at most ``timeout`` seconds for a reader that reads nothing.
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

    /// Closes the output. A second call does nothing.
    package func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        if Glibc.close(descriptor) != 0 { throw .from(errno: errno, path: name) }
    }
}
