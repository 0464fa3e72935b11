// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The rule for existing files in every command that writes files: they stay unless the user says otherwise.
struct OverwriteOptions: ParsableArguments {
    @Flag(help: "Overwrite existing files.")
    var overwrite = false

    /// Throws if the file exists and may not be replaced.
    func check(_ path: String) throws(Failure) {
        if !overwrite, ExistingFile.isFile(path) { throw ExistingFile.failure(path) }
    }
}
