// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// A new output file with the permissions that the umask leaves. Recordings of people do not use this, and stay private.
struct SharedFile {
    private let path: String
    private let isNew: Bool

    /// Notes whether the file exists. Create this before the file is written.
    init(_ path: String) {
        self.path = path
        isNew = PathText.status(path, followsLinks: false) == nil
    }

    /// Gives the file the permissions that the umask leaves, if the file did not exist at ``init(_:)``.
    func share() {
        guard isNew, ExistingFile.isFile(path) else { return }
        chmod(PathText.bytes(path), 0o666 & ~FileMode.mask)
    }
}
