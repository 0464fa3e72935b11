// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// Files that a command would replace.
enum ExistingFile {
    /// Returns true if the path is an existing file or folder. A device such as /dev/null does not count, since it keeps nothing.
    static func isFile(_ path: String) -> Bool {
        guard let status = PathText.status(path) else { return false }
        return [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// - Parameter choices: the options with which the command accepts an existing file.
    static func failure(_ path: String, choices: String = "--overwrite") -> Failure {
        Failure("\(path) already exists. Use \(choices) or another name.", status: Failure.cannotCreate)
    }
}
