// SPDX-License-Identifier: Apache-2.0

import Glibc

extension FileName {
    /// The step that failed; an errno.
    package enum RenamingError: Error, Hashable, Sendable {
        /// No file can be created in the folder, or all numbers are in use.
        case creating(CInt)
        case renaming(CInt)
    }

    /// Renames a file in a folder, with a number added if the name exists. Replaces no file, on any file system.
    /// - Parameters:
    ///   - name: a name by ``safe(_:)``.
    ///   - directory: the descriptor of the folder.
    /// - Returns: the new name.
    package static func rename(
        _ file: String, toUnused name: String, in directory: CInt
    ) throws(RenamingError) -> String {
        // Unsafe calls of C: names are C strings for the call.
        for number in 1...9_999 {
            let candidate = numbered(name, number)
            // An empty file reserves the name, and the rename replaces only that file.
            let placeholder = unsafe openat(
                directory, candidate, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if placeholder < 0, errno == EEXIST { continue }
            guard placeholder >= 0 else { throw .creating(errno) }
            close(placeholder)
            guard unsafe renameat(directory, file, directory, candidate) == 0 else {
                let code = errno
                unsafe unlinkat(directory, candidate, 0)
                throw .renaming(code)
            }
            return candidate
        }
        throw .creating(EEXIST)
    }
}
