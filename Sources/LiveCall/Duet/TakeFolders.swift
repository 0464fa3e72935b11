// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import Foundation
import Glibc

/// The folders of a take of a duet: `take N` with the song, the stems and the mix, and beside it the recordings of the call with the
/// local voice: `take N recording`, and another one with a number for each time that the program was killed and came back. All
/// members wait for the disk.
package struct TakeFolders: Sendable {
    /// The maximum number of recordings.
    private static let limit = 999
    /// The maximum numbers of folders that are searched, the latest first, and of takes in each.
    private static let searchLimits = (folders: 8, takes: 100)
    /// The seconds beyond the song's length for which a take can be continued.
    private static let longestPause = 3_600.0

    /// The absolute path of the folder with the song, the stems and the mix.
    package let folder: String
    /// The absolute paths of the recordings, in the order in which they were made.
    package private(set) var recordings: [String]

    /// The folder of the song's takes.
    var parent: String { String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]) }

    /// Finds the recordings of a take.
    package init(folder: String) {
        let folder = URL(fileURLWithPath: RecordingFolder.path(of: folder)).standardizedFileURL.path
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
    /// hash. A take that began long before is not found, so a host cannot add to an old one.
    /// - Parameters:
    ///   - parent: the user's folder of duets; nil for the default folder.
    static func find(id: UInt64, key: String, song: DuetSong, in parent: String?, at now: Date = Date()) -> TakeFolders?
    {
        for path in takes(of: song, in: parent) {
            guard let found = try? DuetFolder(path: path), let attempt = found.attempt, attempt.id == id,
                attempt.key == key, found.songHash == song.hash, let began = found.began,
                now.timeIntervalSince(began) < song.duration + longestPause
            else { continue }
            return TakeFolders(folder: path)
        }
        return nil
    }

    /// Returns the takes of the latest duets that have a recording with a voice which is not in the local stem.
    /// - Parameter parent: the user's folder of duets; nil for the default folder.
    package static func unfinished(in parent: String?) -> [TakeFolders] {
        takes(titled: "", in: parent).map { TakeFolders(folder: $0) }.filter { $0.isUnfinished && $0.wasSung }
    }

    /// Returns the last take in the folder of a song's takes; nil for any other folder.
    package static func latest(in folder: String) -> String? {
        if PathText.status("\(folder)/\(RecordingManifest.fileName)") != nil { return nil }
        let numbers = (PathText.names(inFolder: folder) ?? []).filter { $0.hasPrefix("take ") }
            .compactMap { Int($0.dropFirst(5)) }
        return numbers.max().map { "\(folder)/take \($0)" }
    }

    /// Returns the songs of earlier takes with a song's title.
    static func songs(like song: DuetSong, in parent: String?) -> [String] {
        takes(of: song, in: parent).flatMap { take in
            (PathText.names(inFolder: take) ?? []).filter { $0.hasPrefix("\(DuetFolder.songName).") }
                .map { "\(take)/\($0)" }
        }
    }

    private static func takes(of song: DuetSong, in parent: String?) -> [String] {
        takes(titled: RecordingFolder.cleaned(song.title), in: parent)
    }

    /// Returns the folders of takes that are named after a song's title, those of the latest duet first.
    private static func takes(titled title: String, in parent: String?) -> [String] {
        let parent = RecordingFolder.path(of: parent)
        let names = (PathText.names(inFolder: parent) ?? []).filter { $0.contains(" \(title)") }.sorted(by: >)
        return names.prefix(searchLimits.folders).flatMap { name in
            (PathText.names(inFolder: "\(parent)/\(name)") ?? []).filter { $0.hasPrefix("take ") }.sorted()
                .prefix(searchLimits.takes).map { "\(parent)/\(name)/\($0)" }
        }
    }
}
