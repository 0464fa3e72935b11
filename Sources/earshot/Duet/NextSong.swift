// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

/// The choice of a duet's next song by the host, while the call goes on: a song of the command line, or of the current folder.
///
/// Members are for the command's thread only.
final class NextSong {
    /// A song of the command line.
    struct Named: Equatable {
        var path: String
        var beat: Beat?
    }

    /// The songs of a folder, which a task reads.
    private final class FolderSongs: Sendable {
        let found = LockedValue<[String]?>(nil)
    }

    /// The songs of the command line that were not chosen yet, in order.
    private(set) var named: [Named]
    private let folder: String
    private var choice: SongChoice?
    /// The songs of the folder while they are read; nil before and after.
    private var reading: FolderSongs?
    /// True once guests asked to join during the choice, and once the user was told how to answer.
    private var (hasRequests, hasAdvised) = (false, false)

    init(_ named: [Named] = [], in folder: String = FileManager.default.currentDirectoryPath) {
        (self.named, self.folder) = (named, folder)
    }

    var isOpen: Bool { choice != nil }

    /// The line that shows the choice; nil without one.
    var line: String? { choice.map { reading == nil ? $0.line : "Song: \($0.typed)▏ reading the folder" } }

    /// Begins the choice. A task reads the folder.
    func open() {
        Terminal.say(DuetSentences.nextSongKeys)
        choice = SongChoice([])
        (hasRequests, hasAdvised) = (false, false)
        let (songs, folder) = (FolderSongs(), folder)
        reading = songs
        Task.detached {
            // A folder that cannot be read has no songs.
            let names = (try? FileSources.contents(folder).map(\.relative)) ?? []
            songs.found.withLock { $0 = names }
        }
    }

    /// Shows the songs once the folder was read. Ends the choice if the song has begun, or another participant is the host.
    func update(_ duet: DuetStatus<MemberID>?, _ room: LiveCallSnapshot) {
        guard isOpen else { return }
        if let found = reading?.found.withLock({ $0 }) {
            reading = nil
            choice?.setSongs(found, first: names)
            if choice?.songs.isEmpty == true { return close(DuetSentences.noNextSong(in: folder)) }
        }
        if duet?.allowsChoice != true || !room.isHost { return close(DuetSentences.choiceEnded) }
        if !room.joinRequests.isEmpty, hasRequests, !hasAdvised {
            hasAdvised = true
            Terminal.say(DuetSentences.answerAfterChoice)
        }
        hasRequests = !room.joinRequests.isEmpty
    }

    /// Handles a key during the choice. Returns the order that chooses a song; nil for none.
    func take(_ key: Key) -> DuetOrder? {
        let result = choice?.take(key)
        if !Terminal.redraws, let line { Terminal.say(line) }
        switch result {
        case nil: return nil
        case .cancelled?:
            close("Cancelled.")
            return nil
        case .chosen(let name)?:
            choice = nil
            let index = names.firstIndex(of: name)
            let song = index.map { named.remove(at: $0) } ?? Named(path: "\(folder)/\(name)")
            return .chooseSong(path: song.path, beat: song.beat)
        }
    }

    private func close(_ words: String) {
        (choice, reading) = (nil, nil)
        Terminal.say(words)
    }

    /// The names of the songs of the command line: within the folder, otherwise the whole path.
    private var names: [String] {
        named.map { $0.path.hasPrefix("\(folder)/") ? String($0.path.dropFirst(folder.count + 1)) : $0.path }
    }
}

extension DuetStatus {
    /// True if the host can choose the next song: none begins or plays.
    var allowsChoice: Bool { !phase.isSong && phase != .findingTime && phaseOfOthers?.isSong != true }
}
