// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioFiles
import Foundation

/// The rule for existing files, the same in every command that writes files: they stay unless the user says otherwise.
struct OverwriteOptions: ParsableArguments {
    @Flag(help: "Overwrite existing files.")
    var overwrite = false

    /// Throws if the file exists and may not be replaced.
    func check(_ path: String) throws(Failure) {
        if !overwrite, ExistingFile.isFile(path) { throw ExistingFile.failure(path) }
    }
}

/// Files that a command would replace.
enum ExistingFile {
    /// Returns true for a file or a folder. A device, such as /dev/null, keeps nothing.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// - Parameter choices: the options that help.
    static func failure(_ path: String, choices: String = "--overwrite") -> Failure {
        Failure("\(path) already exists. Use \(choices) or another name.", status: Failure.cannotCreate)
    }
}

/// A new file that others may read, as the umask says. Recordings of people stay private.
struct SharedFile {
    private let path: String
    private let isNew: Bool

    /// Before the file is written.
    init(_ path: String) {
        self.path = path
        isNew = !FileManager.default.fileExists(atPath: path)
    }

    /// Gives a file that was made meanwhile the mode that the umask leaves.
    func share() {
        guard isNew, ExistingFile.isFile(path) else { return }
        chmod(path, 0o666 & ~FileMode.mask)
    }
}
