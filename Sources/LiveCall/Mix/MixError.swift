// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// The reason that a recording could not be mixed.
package enum MixError: Error, Equatable, CustomStringConvertible {
    /// The folder does not exist.
    case noFolder(String)
    /// The folder has no `recording.json`.
    case noDescription(folder: String)
    /// `recording.json` cannot be opened.
    case unreadable(AudioFileError)
    /// `recording.json` is damaged, or has values that no recording has.
    case badDescription(path: String, reason: String)
    /// A later program recorded, in a way that this one would misunderstand.
    case laterVersion(path: String, version: Int)
    /// The recording has no voices.
    case noVoices(folder: String)
    /// No voice can be read. The faults say why.
    case nothingReadable(folder: String, faults: [MixFault])
    /// No voice has this name; `near` are similar names.
    case unknownVoice(name: String, near: [String], all: [String])
    /// A file cannot be written.
    case output(AudioFileError)
    /// The output is a file of the recording.
    case ownFile(path: String)
    /// Each voice is moved before the beginning.
    case empty
    /// `progress` returned false.
    case cancelled

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .noFolder(let folder): "\(folder): no such folder"
        case .noDescription(let folder): "\(folder): not a recording, because it has no \(RecordingManifest.fileName)"
        // The incomplete file is deleted.
        case .output(.diskFull(let path)): "\(path): the disk is full"
        case .unreadable(let error), .output(let error): error.description
        case .badDescription(let path, let reason): "\(path): cannot be used: \(reason)"
        case .laterVersion(let path, let version): "\(path): written by a newer Earshot (version \(version))"
        case .noVoices(let folder): "\(folder): the recording has no voices"
        case .nothingReadable(let folder, let faults):
            "\(folder): no voice can be read" + (faults.first.map { " (\($0))" } ?? "")
        case .unknownVoice(let name, _, _): "no voice named '\(name)'"
        case .ownFile(let path): "\(path): belongs to the recording"
        case .empty: "the mix would be empty, because each voice is moved before the beginning"
        case .cancelled: "the mix was cancelled; its output was deleted"
        }
    }
}

/// A voice that is not complete in the mix.
package struct MixFault: Error, Hashable, CustomStringConvertible {
    /// The kind of a fault.
    package enum Kind: Hashable, Sendable {
        /// The file does not exist, or cannot be opened.
        case missing
        /// A part of the file could not be decoded, or its end is missing.
        case damaged
        /// The files have this many seconds less than `recording.json` gives.
        case short(seconds: Double)
    }

    /// The voice's name.
    package var voice: String
    /// The name of its file, or of the first part.
    package var file: String
    package var kind: Kind
    /// One sentence that says what happened.
    package var description: String
}
