// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc
import NIOCore
import NIOPosix

/// A file to be sent. Reading blocks a thread of NIO's pool, not the caller's.
final class SourceFile: Sendable {
    let path: String
    let name: String
    let size: Int64
    private let descriptor: CInt
    private let stamp: Stamp

    /// The properties of a file that differ after a change of its content.
    private struct Stamp: Hashable {
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            size = Int64(status.st_size)
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    /// Opens a file.
    static func open(_ path: String) async throws -> SourceFile {
        try await NIOThreadPool.singleton.runIfActive { try SourceFile(path) }
    }

    private init(_ path: String) throws {
        // Unsafe calls of C: paths are C strings for the call, buffers are passed with their counts.
        self.path = path
        // Non-blocking, so that opening a pipe does not wait.
        descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            var status = stat()
            if code == EACCES || code == ENXIO, unsafe stat(path, &status) == 0 {
                if status.st_mode & S_IFMT == S_IFDIR { throw TransferError.isDirectory(path) }
                if status.st_mode & S_IFMT != S_IFREG { throw TransferError.notRegular(path) }
            }
            throw code == ENOENT || code == ENOTDIR ? TransferError.noSuchFile(path) : .unreadable(path, code)
        }
        var status = stat()
        let code = unsafe fstat(descriptor, &status) == 0 ? 0 : errno
        let kind = status.st_mode & S_IFMT
        name = FileName.safe(path.split(separator: "/").last.map(String.init) ?? "")
        stamp = Stamp(status)
        size = stamp.size
        // From here on `deinit` closes the file, also after a throw.
        guard code == 0, kind == S_IFREG else {
            throw code != 0
                ? TransferError.unreadable(path, code) : kind == S_IFDIR ? .isDirectory(path) : .notRegular(path)
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    deinit { close(descriptor) }

    /// Returns the file's SHA-256.
    /// - Parameter progress: receives the bytes read so far, after each mebibyte.
    func hash(_ progress: @escaping @Sendable (Int64) -> Void) async throws -> SHA256Digest {
        let isCancelled = Outcome<Bool>()
        return try await withTaskCancellationHandler {
            try await NIOThreadPool.singleton.runIfActive {
                var hasher = SHA256Hasher()
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
                defer { unsafe buffer.deallocate() }
                var done: Int64 = 0
                while done < self.size {
                    if isCancelled.value != nil { throw CancellationError() }
                    let count = try unsafe self.read(at: done, into: buffer)
                    unsafe hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    done += Int64(count)
                    progress(done)
                }
                try self.checkUnchanged()
                return hasher.finish()
            }
        } onCancel: {
            isCancelled.set(true)
        }
    }

    /// Returns the `count` bytes from an offset on; fewer at the end of the file.
    func bytes(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await NIOThreadPool.singleton.runIfActive {
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            let wanted = Int(min(Int64(count), self.size - offset))
            while buffer.readableBytes < wanted {
                let done = buffer.readableBytes
                try unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted - done) {
                    try unsafe self.read(
                        at: offset + Int64(done), into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(wanted - done)]))
                }
            }
            return buffer
        }
    }

    /// Throws if the file has changed since it was opened.
    /// - Throws: ``TransferError/changed(_:)``.
    func checkUnchanged() throws {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, Stamp(status) == stamp else { throw TransferError.changed(path) }
    }

    /// Reads at least one byte into `buffer`, and returns the number of bytes.
    private func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count > 0 { return count }
            if count == 0 { throw TransferError.changed(path) }
            guard errno == EINTR else { throw TransferError.unreadable(path, errno) }
        }
    }
}
