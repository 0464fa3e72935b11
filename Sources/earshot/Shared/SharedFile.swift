// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// A new file with the mode that the umask leaves. Recordings of people stay private.
struct SharedFile {
    private let path: String
    private let isNew: Bool

    /// Notes whether the file exists. Create this before the file is written.
    init(_ path: String) {
        self.path = path
        isNew = !FileManager.default.fileExists(atPath: path)
    }

    /// Sets the mode that the umask leaves on a file created meanwhile.
    func share() {
        guard isNew, ExistingFile.isFile(path) else { return }
        chmod(path, 0o666 & ~FileMode.mask)
    }
}
