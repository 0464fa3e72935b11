// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A small file of mode 0600 that is read and replaced as a whole. After a crash it is the complete old or new file.
package enum PrivateFile {
    /// Returns the file's bytes; nil if there is no file.
    package static func read(_ path: String, limit: Int) throws(NearbyStoreError) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .file(path, code: errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            var failure: Int32 = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                let got = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                failure = got < 0 ? errno : 0
                count = max(0, got)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw .file(path, code: failure) }
            if piece.isEmpty { return bytes }
            bytes += piece
            guard bytes.count <= limit else { throw .tooLarge(path) }
        }
    }

    /// Replaces the file atomically.
    package static func write(_ bytes: [UInt8], to path: String) throws(NearbyStoreError) {
        let temporaryPath = path + ".new"
        unsafe unlink(temporaryPath)
        let descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(temporaryPath, code: errno) }
        var code: Int32 = 0
        var writtenCount = 0
        while writtenCount < bytes.count, code == 0 {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress! + writtenCount, bytes.count - writtenCount)
            }
            if count < 0, errno != EINTR { code = errno }
            writtenCount += max(0, count)
        }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, unsafe rename(temporaryPath, path) != 0 { code = errno }
        guard code == 0 else {
            unsafe unlink(temporaryPath)
            throw .file(path, code: code)
        }
    }

    /// Returns true if a later version of Earshot wrote the file. A damaged or missing file is of no version.
    package static func isLater(_ path: String, than version: Int, limit: Int) throws(NearbyStoreError) -> Bool {
        do throws(NearbyStoreError) {
            guard let file = try read(path, limit: limit) else { return false }
            return StoredVersion.isLater(file, than: version)
        } catch {
            if case .tooLarge = error { return false }
            throw error
        }
    }

    /// The seconds to wait for another process's lock.
    private static let lockTimeout = 10.0

    /// Runs `body` while holding a lock, which excludes other processes and other threads.
    /// - Parameter path: a folder, or a file of mode 0600 that is created when needed.
    package static func locked<T>(
        _ path: String, _ body: () throws(NearbyStoreError) -> T
    ) throws(NearbyStoreError) -> T {
        var lock = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if lock < 0, errno == EISDIR { lock = unsafe open(path, O_RDONLY | O_CLOEXEC) }
        guard lock >= 0 else { throw .file(path, code: errno) }
        defer { close(lock) }
        let end = ContinuousClock.now + .seconds(lockTimeout)
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK && ContinuousClock.now < end else {
                throw .file(path, code: errno)
            }
            usleep(5_000)
        }
        return try body()
    }

    /// Creates a folder of mode 0700, and its parents.
    package static func makeDirectory(_ path: String) throws(NearbyStoreError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw .file(path, code: errno)
        }
        try makeDirectory(String(path[..<slash]))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .file(path, code: errno) }
    }
}
