// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

struct StartDuet: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Choose a duet on this network, or begin one with a song of this folder.",
        discussion: """
            A number joins a room, n begins a new one: type a few letters of a song's name, then Enter.
            """)

    static let examples = [CommandExample("Choose a duet, or begin one with a song of this folder", "earshot duet")]

    @OptionGroup(title: "Duet") var duet: DuetOptions

    @OptionGroup var options: HostOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws { try DuetOptions.check(options.call) }

    private enum Choice {
        case join(RoomSearch.Found)
        case host(song: String)
    }

    func run() throws {
        var options = options
        try duet.apply(to: &options.call)
        var choice: Choice?
        try Failure.reporting {
            Interrupt.watch()
            try options.call.checkDuetFolder()
            duet.reportUnfinished()
            choice = try choose()
        }
        switch choice {
        case nil: break
        case .host(let song)?: try duet.host([song], in: nil, options)
        case .join(let room)?: try GuestOptions(options).run(room: nil, chosen: room)
        }
    }

    private func choose() throws -> Choice {
        guard let keys = KeyboardInput() else {
            throw Failure(
                "No terminal to choose on. Begin a duet: earshot duet host SONG. Join one: earshot duet join ROOM",
                status: Failure.usage)
        }
        Terminal.say("Rooms on this network. Press a number to join one, n to begin a new one, q to quit.")
        let search = RoomSearch(keys: keys, timeout: 10, command: "duet join")
        if let room = try search.pick(offersNew: true) { return .join(room) }
        return .host(song: try Self.chooseSong(keys))
    }

    private static func chooseSong(_ keys: KeyboardInput) throws -> String {
        let folder = FileManager.default.currentDirectoryPath
        let songs = try FileSources.contents(folder)
        guard !songs.isEmpty else { throw Failure(DuetSentences.noSongs(in: folder), status: Failure.noInput) }
        Terminal.say(DuetSentences.songKeys)
        var choice = SongChoice(songs.map(\.relative))
        defer { Terminal.live("") }
        while true {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            Terminal.live(PlayLine.fit(choice.line, PlayLine.terminalWidth - 1))
            guard let key = keys.next(within: 0.1), let result = choice.take(key) else { continue }
            switch result {
            case .cancelled: throw ExitCodes.cancelled
            case .chosen(let song): return "\(folder)/\(song)"
            }
        }
    }
}
