// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import Glibc

/// The folders of a take of a duet: `take N` with the song, the stems and the mix, and beside it the recordings of the call with the
/// local voice: `take N recording`, and another one with a number for each time that the program was killed and came back. All
/// members wait for the disk.
package struct TakeFolders: Sendable {
    /// The maximum number of recordings.
    private static let limit = 999
    /// The maximum number of folders in which the take of an attempt is looked for, the latest first.
    private static let searchLimit = 50

    /// The absolute path of the folder with the song, the stems and the mix.
    package let folder: String
    /// The absolute paths of the recordings, in the order in which they were made.
    package private(set) var recordings: [String]

    /// The folder of the song's takes.
    var parent: String { String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]) }

    /// Finds the recordings of a take.
    package init(folder: String) {
        var folder = RecordingFolder.path(of: folder)
        while folder.hasSuffix("/"), folder.count > 1 { folder.removeLast() }
        self.folder = folder
        recordings = (1...Self.limit).lazy.map { Self.recording($0, of: folder) }
            .prefix { PathText.status($0).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }.map { $0 }
    }

    private static func recording(_ number: Int, of folder: String) -> String {
        number == 1 ? "\(folder) recording" : "\(folder) recording \(number)"
    }

    /// Adds the path of another recording, which is not created.
    mutating func addRecording() { recordings.append(Self.recording(recordings.count + 1, of: folder)) }

    /// Finds the take of an attempt that an earlier program began: by the attempt's random number, the singer's key and the song's
    /// hash.
    /// - Parameters:
    ///   - parent: the user's folder of duets; nil for the default folder.
    ///   - title: the song's title, after which folders of takes are named.
    static func find(id: UInt64, key: String, song: DuetSong, in parent: String?) -> TakeFolders? {
        let parent = RecordingFolder.path(of: parent)
        let title = RecordingFolder.cleaned(song.title)
        let names = (PathText.names(inFolder: parent) ?? []).filter { $0.contains(" \(title)") }.sorted(by: >)
        for name in names.prefix(searchLimit) {
            let takes = (PathText.names(inFolder: "\(parent)/\(name)") ?? []).filter { $0.hasPrefix("take ") }
            for take in takes.sorted().prefix(searchLimit) {
                let path = "\(parent)/\(name)/\(take)"
                guard let found = try? DuetFolder(path: path), let attempt = found.attempt, attempt.id == id,
                    attempt.key == key, found.song?.hash == song.hash
                else { continue }
                return TakeFolders(folder: path)
            }
        }
        return nil
    }
}
