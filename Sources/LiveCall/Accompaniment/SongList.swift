// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioStreams
import Foundation

/// The sound files that a user names: files, and the contents of folders and playlists. An error of one name does not affect any
/// other name. A file is not opened here, and may be missing.
struct SongList {
    private(set) var paths: [String] = []
    private(set) var failures: [AudioFileError] = []
    private var playlistCount = 0
    private var playlistByteCount = 0
    private var visitedCount = 0

    static let maximumCount = 100_000
    /// The maximum depth of playlists in playlists.
    private static let maximumPlaylistDepth = 3
    private static let maximumPlaylistCount = 1_000
    /// The maximum bytes of all playlists together.
    private static let maximumPlaylistBytes = 1 << 24
    private static let maximumFolderDepth = 16
    /// The maximum names in folders that are looked at, so that a search of the whole disk ends.
    private static let maximumVisitedCount = 500_000
    private static let maximumFailures = 20

    init(_ names: [String]) { for name in names { add(name, depth: 0) } }

    private mutating func add(_ name: String, depth: Int) {
        guard paths.count < Self.maximumCount else { return }
        let ending = (name as NSString).pathExtension.lowercased()
        if StreamPlaylist.fileExtensions.contains(ending) { return addPlaylist(name, depth: depth) }
        // In a list of many files, those that are named as sound are not looked up on the disk.
        if depth > 0, SoundFiles.fileExtensions.contains(ending) { return paths.append(name) }
        guard let status = PathText.status(name), status.st_mode & S_IFMT == S_IFDIR else { return paths.append(name) }
        addFolder(name)
    }

    private mutating func fail(_ path: String, _ detail: String) {
        guard failures.count < Self.maximumFailures else { return }
        failures.append(.unsupportedFormat(path: path, detail: detail))
    }

    private mutating func addFolder(_ folder: String) {
        var found: [String] = []
        var foldersToVisit = [(path: folder, depth: 0)]
        while let (path, depth) = foldersToVisit.popLast(), found.count < Self.maximumCount {
            guard let names = PathText.names(inFolder: path) else {
                fail(path, "the folder cannot be read")
                continue
            }
            visitedCount += names.count
            guard visitedCount <= Self.maximumVisitedCount else {
                fail(folder, "the folder contains too many files")
                break
            }
            for name in names where !name.hasPrefix(".") {
                let inner = (path as NSString).appendingPathComponent(name)
                // A link to a folder is not followed: it may lead back to a parent folder.
                let kind = (PathText.status(inner, followsLinks: false)?.st_mode ?? 0) & S_IFMT
                if kind == S_IFDIR, depth < Self.maximumFolderDepth { foldersToVisit.append((inner, depth + 1)) }
                let isSound = SoundFiles.fileExtensions.contains((name as NSString).pathExtension.lowercased())
                if isSound, kind == S_IFREG || kind == S_IFLNK { found.append(inner) }
            }
        }
        if found.isEmpty { fail(folder, "the folder contains no audio files") }
        paths += found.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
            .prefix(Self.maximumCount - paths.count)
    }

    private mutating func addPlaylist(_ path: String, depth: Int) {
        guard depth < Self.maximumPlaylistDepth else { return fail(path, "the playlists contain each other") }
        playlistCount += 1
        guard playlistCount <= Self.maximumPlaylistCount else { return fail(path, "too many playlists") }
        // A pipe would make the thread wait for its writer.
        if let status = PathText.status(path), status.st_mode & S_IFMT != S_IFREG {
            return fail(path, "the playlist is not a file")
        }
        guard let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: Self.maximumPlaylistBytes + 1) ?? Data()
        else { return fail(path, "the playlist cannot be read") }
        playlistByteCount += bytes.count
        guard playlistByteCount <= Self.maximumPlaylistBytes else { return fail(path, "too large for a playlist") }
        guard let names = StreamPlaylist.names(in: [UInt8](bytes), atMost: Self.maximumCount) else {
            return fail(path, "a playlist of HTTP Live Streaming, which is not supported")
        }
        guard !names.isEmpty else { return fail(path, "the playlist is empty") }
        let folder = (path as NSString).deletingLastPathComponent
        for name in names { add(StreamPlaylist.path(of: name, inFolder: folder), depth: depth + 1) }
    }
}
