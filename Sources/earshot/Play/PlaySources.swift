// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotAudioStreams
import EarshotLiveCall
import Foundation

/// An entry to play.
struct PlayEntry {
    enum Kind {
        case file(String)
        case stream(String)
        /// Standard input, with the bytes already read.
        case pipe([UInt8])
    }
    var kind: Kind
    /// The name to show: a file's path, `standard input`, or an address without user name, password and query.
    var name: String
    /// The temporary copy of standard input, which is deleted when released; nil for other entries.
    var spool: StandardStream.Spool?

    var isStream: Bool { if case .file = kind { false } else { true } }
}

/// The entries to play for the names on a command line. Playlists and folders are replaced by their contents. An error of one
/// name does not affect any other name.
struct PlaySources {
    private(set) var entries: [PlayEntry] = []
    private(set) var failures: [Failure] = []
    private var hasStandardInput = false
    /// The maximum depth of playlists in playlists.
    private static let maximumPlaylistDepth = 3
    private static let maximumPlaylistLength = 1 << 24
    private static let maximumEntries = 100_000

    init(_ names: [String]) throws {
        for name in names { try add(name, depth: 0) }
    }

    /// The reasons that no entry can be opened; empty if at least one entry can be opened or is a stream.
    var refusals: [Failure] {
        var found: [Failure] = []
        for entry in entries {
            guard case .file(let path) = entry.kind else { return [] }
            do {
                _ = try ReadableFile(path)
                return []
            } catch { found.append(Failure(error)) }
        }
        return found
    }

    private mutating func add(_ name: String, depth: Int) throws {
        guard entries.count < Self.maximumEntries else { return }
        do {
            if Self.isAddress(name) {
                entries.append(PlayEntry(kind: .stream(name), name: AudioStream.shown(name)))
            } else if name == StandardStream.name, depth == 0 {
                guard !hasStandardInput else {
                    throw Failure("Standard input can be read only once. Use - once.", status: Failure.usage)
                }
                hasStandardInput = true
                try addStandardInput()
            } else if StreamPlaylist.fileExtensions.contains((name as NSString).pathExtension.lowercased()) {
                try addPlaylist(name, depth: depth)
            } else {
                try addFiles(name)
            }
        } catch let failure as Failure { failures.append(failure) }
    }

    /// Adds standard input. MP3, AAC, Ogg and WAVE play as they arrive; other formats need seeking, and so the whole file.
    private mutating func addStandardInput() throws {
        let name = "standard input"
        if StandardStream.isFile {
            entries.append(PlayEntry(kind: .file("/dev/stdin"), name: name))
            return
        }
        let prefix = try StandardStream.prefix(StreamContent.prefixLength)
        guard !prefix.isEmpty else {
            throw Failure("\(name) is empty. Pipe an audio file into it.", status: Failure.data)
        }
        var kind = PlayEntry.Kind.pipe(prefix)
        var spool: StandardStream.Spool?
        if Self.needsAll(prefix) {
            let new = try StandardStream.Spool()
            try new.fill(after: prefix)
            kind = .file(new.path)
            spool = new
        }
        entries.append(PlayEntry(kind: kind, name: name, spool: spool))
    }

    private static func needsAll(_ prefix: [UInt8]) -> Bool {
        switch StreamContent(prefix: prefix) {
        case .otherSound, .other: true
        case .unknown: ["caff", ".snd", "dns.", "riff"].contains { prefix.starts(with: $0.utf8) }
        case .wav, .ogg, .m3u, .pls: false
        }
    }

    static func isAddress(_ name: String) -> Bool { StreamPlaylist.isAddress(name) }

    private mutating func addFiles(_ name: String) throws {
        for source in Self.preferringMixes(try FileSources([name]).all) {
            entries.append(
                PlayEntry(kind: .file(source.path), name: source.name))
        }
    }

    /// Returns files without those of recorded voices in named folders, if a mix has them.
    private static func preferringMixes(_ sources: [FileSources.Source]) -> [FileSources.Source] {
        var mixes: [String: Set<String>] = [:]
        func folder(_ source: FileSources.Source) -> String { (source.path as NSString).deletingLastPathComponent }
        for source in sources where source.folder != nil && mixes[folder(source)] == nil {
            mixes[folder(source)] = Set(RecordingFolder.mix(in: folder(source)))
        }
        let kept = sources.filter { source in
            guard source.folder != nil, case let folder = folder(source) else { return true }
            let take = RecordingFolder.takeFolder(ofRecording: folder)
            if let take, mixes[take]?.isEmpty == false { return false }
            let mix = mixes[folder] ?? []
            return mix.isEmpty || mix.contains((source.path as NSString).lastPathComponent)
        }
        if kept.count < sources.count { Terminal.say("Playing the mix. To hear one voice, name its file.") }
        return kept
    }

    private mutating func addPlaylist(_ path: String, depth: Int) throws {
        guard depth < Self.maximumPlaylistDepth else {
            throw Failure("\(path): the playlists contain each other. Name the files instead.", status: Failure.data)
        }
        guard let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: Self.maximumPlaylistLength + 1) ?? Data()
        else {
            throw Failure(
                "\(path): cannot read this playlist. Check its name and mode.", status: Failure.noInput)
        }
        guard bytes.count <= Self.maximumPlaylistLength else {
            throw Failure("\(path): too large for a playlist.", status: Failure.data)
        }
        guard let names = StreamPlaylist.names(in: [UInt8](bytes), atMost: Self.maximumEntries) else {
            throw Failure(
                "\(path): HTTP Live Streaming (HLS) is not supported. Use the address of an MP3, AAC, Ogg or WAV stream.",
                status: Failure.data)
        }
        guard !names.isEmpty else {
            throw Failure("\(path): the playlist is empty.", status: Failure.data)
        }
        let folder = (path as NSString).deletingLastPathComponent
        for name in names { try add(StreamPlaylist.path(of: name, inFolder: folder), depth: depth + 1) }
    }
}
