// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The audio file that a command writes; its extension names the format.
enum SoundFileOutput {
    /// The extensions of file types, for completion.
    static var endings: [String] { FileKinds.names }

    /// Throws if a name's extension is unknown. A device, such as /dev/null, may have any name.
    static func check(_ path: String, option: String) throws {
        guard AudioFileType(fileName: path) == nil, !path.hasPrefix("/dev/") else { return }
        throw ValidationError(FileKinds.unknown(path))
    }

    /// Creates or truncates the file, as 32-bit float if the type supports it.
    static func create(_ path: String, format: AudioFormat) throws -> any SoundFileWriter {
        try Failure.creating { try SoundFiles.create(path, format: format) }
    }

    /// Returns true if two paths are the same plain file.
    static func isSame(_ a: String, _ b: String) -> Bool {
        guard let one = PathText.status(a), let other = PathText.status(b) else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_mode & S_IFMT == S_IFREG
    }
}
