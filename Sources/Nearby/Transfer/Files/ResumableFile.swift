// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc
import NIOCore

/// An arriving file, named `.NAME.HASH.part` in its final folder. After an interruption, or the end of the process, its bytes
/// stay, and the next transfer finds them by the hash, whatever the name. The file is renamed once the hash is verified.
///
/// Its methods block on the disk. For one task at a time.
final class ResumableFile: @unchecked Sendable {
    let folder: String
    let size: Int64
    private let digest: SHA256Digest
    private let directory: CInt
    private var descriptor: CInt = -1
    private var partName = ""
    private var hasher = SHA256Hasher()
    /// The bytes in the file so far.
    private(set) var count: Int64 = 0

    /// Opens the partial file that exists for the hash, or creates one.
    init(in folder: String, name: String, digest: SHA256Digest, size: Int64) throws {
        // Unsafe calls of C: paths are C strings for the call, buffers are passed with their counts.
        self.folder = folder
        self.size = size
        self.digest = digest
        directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw [ENOENT, ENOTDIR].contains(errno)
                ? TransferError.noSuchFolder(folder) : .notWritable(folder, errno)
        }
        try openPart(named: name)
        try readExistingPart()
        var room = statvfs()
        guard unsafe fstatvfs(directory, &room) == 0 else { return }
        let free = Int64(
            clamping: UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize)).partialValue)
        guard size - count <= free else {
            if count == 0 { discard() }
            throw TransferError.noSpace(folder, needed: size - count, free: free)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if directory >= 0 { close(directory) }
    }

    /// Appends bytes.
    /// - Throws: ``TransferError/disk(_:_:)``; the file then has none of the bytes.
    func append(_ bytes: ByteBuffer) throws {
        try unsafe bytes.withUnsafeReadableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let written = unsafe pwrite(
                    descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
                    off_t(count) + off_t(done))
                if written > 0 {
                    done += written
                } else if written == 0 || errno != EINTR {
                    let code = written == 0 ? ENOSPC : errno
                    ftruncate(descriptor, off_t(count))
                    throw TransferError.disk(folder, code)
                }
            }
            unsafe hasher.update(bytes)
            count += Int64(bytes.count)
        }
    }

    /// Verifies the file and renames it, with a number added if the name exists. Empties the file if the hash is wrong.
    /// - Returns: the file's new path.
    /// - Throws: ``TransferError/damaged``, ``TransferError/disk(_:_:)``, ``TransferError/notWritable(_:_:)``.
    func finish(as name: String) throws -> String {
        precondition(count == size)
        guard hasher.finish() == digest else {
            count = 0
            ftruncate(descriptor, 0)
            throw TransferError.damaged
        }
        guard fdatasync(descriptor) == 0 else { throw TransferError.disk(folder, errno) }
        do throws(FileName.RenamingError) {
            let candidate = try FileName.rename(partName, toUnused: name, in: directory)
            return folder.hasSuffix("/") ? folder + candidate : "\(folder)/\(candidate)"
        } catch {
            switch error {
            case .creating(let code): throw TransferError.notWritable(folder, code)
            case .renaming(let code): throw TransferError.disk(folder, code)
            }
        }
    }

    /// Deletes the partial file.
    func discard() { unsafe unlinkat(directory, partName, 0) }

    private func openPart(named name: String) throws {
        let ending = ".\(digest.hex).part"
        // Another process may rename the partial file while it is opened here.
        for _ in 0..<10 {
            partName = existing(ending) ?? ".\(name)\(ending)"
            descriptor = unsafe openat(
                directory, partName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw TransferError.notWritable(folder, errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw TransferError.alreadyArriving(folder) }
            var ours = stat()
            var named = stat()
            guard unsafe fstat(descriptor, &ours) == 0 else { throw TransferError.notWritable(folder, errno) }
            guard ours.st_mode & S_IFMT == S_IFREG else { throw TransferError.notWritable(folder, EEXIST) }
            if unsafe fstatat(directory, partName, &named, AT_SYMLINK_NOFOLLOW) == 0, named.st_ino == ours.st_ino {
                fchmod(descriptor, 0o600)
                return
            }
            close(descriptor)
            descriptor = -1
        }
        throw TransferError.alreadyArriving(folder)
    }

    /// Returns the name of a hidden file in the folder with this ending; nil if there is none.
    private func existing(_ ending: String) -> String? {
        let listingDescriptor = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listingDescriptor >= 0 else { return nil }
        guard let listing = unsafe fdopendir(listingDescriptor) else {
            close(listingDescriptor)
            return nil
        }
        defer { unsafe closedir(listing) }
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasPrefix("."), name.hasSuffix(ending), name.utf8.count > ending.utf8.count { return name }
        }
        return nil
    }

    private func readExistingPart() throws {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0 else { return }
        guard status.st_size <= size else {
            ftruncate(descriptor, 0)
            return
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { unsafe buffer.deallocate() }
        while count < status.st_size {
            let read = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(count))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw TransferError.disk(folder, read == 0 ? EIO : errno) }
            unsafe hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            count += Int64(read)
        }
    }
}
