// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Glibc

/// The check of a folder before a recording.
extension RecordingFolder {
    /// The flag `O_TMPFILE` without `O_DIRECTORY`: opens a file without a name, which leaves nothing behind.
    private static let unnamedFile: Int32 = 0o20000000

    /// Throws the error with which a recording would fail now because of its folder. Leaves nothing behind.
    /// - Parameter folder: the user's folder; nil for `Earshot` in the user's music folder.
    package static func check(_ folder: String?) throws(CallRecordingError) {
        let (wanted, existing) = try existingFolder(folder)
        if let code = obstacle(in: existing) { throw .folder(path: wanted, code: code) }
    }

    /// Returns the free bytes for files in a folder that may be missing; nil if unknown.
    static func freeSpace(_ folder: String?) -> Int64? {
        var space = statvfs()
        guard let (_, existing) = try? existingFolder(folder), statvfs(PathText.bytes(existing), &space) == 0 else {
            return nil
        }
        return Int64(
            clamping: UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize)).partialValue)
    }

    /// Returns the absolute path of a folder, and the folder itself or the nearest one above it that exists.
    private static func existingFolder(
        _ folder: String?
    ) throws(CallRecordingError) -> (wanted: String, existing: String) {
        let wanted = path(of: folder)
        var existing = wanted
        var status = stat()
        while stat(PathText.bytes(existing), &status) != 0 {
            guard errno == ENOENT, let slash = existing.lastIndex(of: "/"), existing != "/" else {
                throw .folder(path: wanted, code: errno)
            }
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .folder(path: wanted, code: ENOTDIR) }
        return (wanted, existing)
    }

    /// Returns the errno with which files cannot be created and written in a folder; nil if they can.
    private static func obstacle(in folder: String) -> Int32? {
        let file = open(PathText.bytes(folder), O_WRONLY | O_DIRECTORY | O_CLOEXEC | unnamedFile, 0o600)
        guard file < 0 else {
            defer { close(file) }
            let block = [UInt8](repeating: 1, count: 4_096)
            let count = write(file, block, block.count)
            return count < 0 ? errno : count < block.count ? ENOSPC : nil
        }
        guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) else { return errno }
        // This file system has no unnamed files.
        let trial = PathText.bytes("\(folder)/.earshot-\(getpid())")
        guard mkdir(trial, 0o700) == 0 else { return errno == EEXIST ? nil : errno }
        rmdir(trial)
        return nil
    }
}
