// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

struct DuetCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "duet", abstract: "Sing a song together, and keep a mix in which the voices line up.",
        discussion: """
            The song begins on all machines at the same instant. Each singer's own machine records the voice dry and at full quality. After the song the voices are exchanged and mixed: Music/Earshot/DATE SONG/take 1/mix.m4a. Other mixes: earshot mix FOLDER.
            """,
        subcommands: [StartDuet.self, HostDuet.self, JoinDuet.self], defaultSubcommand: StartDuet.self)

    static let examples = [
        CommandExample("Choose a duet, or begin one with a song of this folder", "earshot duet"),
        CommandExample("Sing a song with whoever joins", "earshot duet host 'Blue Moon.ogg'"),
        CommandExample("Sing along on another machine", "earshot duet join"),
    ]
}

struct HostDuet: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Open a room to sing a song in.",
        discussion: """
            Guests get the song's file, and all must agree before it begins. A beat needs no file, and is not in the mix. Without --dial and --codec, the call has the least delay: --dial sing, --codec pcm.
            """)

    static let examples = [
        CommandExample("Sing a song with whoever joins", "earshot duet host 'Blue Moon.ogg'"),
        CommandExample("Sing a song from the network", "earshot duet host https://example.org/songs/moon.ogg"),
        CommandExample("Count in a waltz", "earshot duet host waltz.mp3 --tempo 160 --bar 3"),
        CommandExample("Sing to a beat for ten minutes", "earshot duet host --beat 96 --length 10m"),
        CommandExample("Sing with known guests over JACK", "earshot duet host song.mp3 --accept known --device jack"),
    ]

    @Argument(
        help: "The song to sing to: a sound file of any kind, or its http address. --beat needs none.",
        completion: .file())
    var song: String?

    @Option(help: ArgumentHelp("The room's name, up to 63 bytes. [default: NAME's room]", valueName: "room"))
    var room: String?

    @OptionGroup(title: "Song") var beat: BeatOptions

    @OptionGroup(title: "Duet") var duet: DuetOptions

    @OptionGroup var options: HostOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        try beat.check(song: song)
        if let room { try RoomOptions.check { try PeerName(room) } }
        try DuetOptions.check(options.call)
    }

    func run() throws {
        duet.reportUnfinished()
        if let song { return try duet.host(song, beat: beat.ofSong, in: room, options) }
        guard let metronome = beat.metronome else { return }
        try duet.host(SongFile.describe(metronome.beat, duration: metronome.duration), path: nil, in: room, options)
    }
}

struct JoinDuet: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a room to sing the host's song.",
        discussion: """
            The host's song arrives by itself and is kept in Music/Earshot/Songs. Without --dial and --codec, the call has the least delay: --dial sing, --codec pcm.
            """)

    static let examples = [
        CommandExample("Choose from the rooms on this network", "earshot duet join"),
        CommandExample("Join by name", "earshot duet join \"Anna's room\""),
    ]

    @Argument(help: "Name, address or join code of a room, as for 'earshot join'. [default: choose from a list]")
    var room: String?

    @OptionGroup(title: "Duet") var duet: DuetOptions

    @OptionGroup var options: GuestOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        try options.check(room)
        try DuetOptions.check(options.call)
    }

    func run() throws {
        var options = options
        try duet.apply(to: &options.call)
        duet.reportUnfinished()
        try options.run(room: room)
    }
}

/// The options that all singers have.
struct DuetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder for takes, mixes and the songs of others. [default: Music/Earshot]", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Flag(help: "Agree to sing and to be recorded without being asked.")
    var agree = false

    @Flag(help: "Do not name the song in the room's announcement, which everybody on the network can read.")
    var hideSong = false

    /// The options of calls that ``check(_:)`` refuses.
    static let refused: Set<String> = ["record", "accompany"]
    /// The defaults that ``CallOptions/preferDuet()`` sets.
    static let defaults = ["codec": "pcm", "dial": "sing"]

    /// Throws if options of calls do not suit a duet.
    static func check(_ call: CallOptions) throws {
        if call.recording.record != nil { throw ValidationError("A duet records each take by itself. Omit --record.") }
        if call.accompaniment.command != nil { throw ValidationError("A duet has its own song. Omit --accompany.") }
    }

    /// Names the takes whose programs were killed.
    func reportUnfinished() {
        for take in TakeFolders.unfinished(in: folder.map { URL(fileURLWithPath: $0).path }) {
            Terminal.say(DuetSentences.unfinished(take))
        }
    }

    /// Reads a song, opens a room for it, and runs the duet to its end.
    func host(_ song: String, beat: Beat? = nil, in room: String?, _ options: HostOptions) throws {
        var path = URL(fileURLWithPath: song).path
        var found: DuetSong?
        try Failure.reporting {
            do {
                if SongFile.isAddress(song) { path = try download(song) } else { try SendCommand.checkFile(song) }
                found = try SongFile.describe(path, beat: beat)
            } catch let error as DuetProblem {
                throw Failure(DuetSentences.problem(error) { _ in "" }, status: Failure.data)
            }
        }
        guard let found else { return }
        try host(found, path: path, in: room, options)
    }

    /// Receives a song from the network, with a line that shows the progress. Returns its path.
    private func download(_ address: String) throws -> String {
        Interrupt.watch()
        Terminal.say("Receiving the song from \(URL(string: address)?.host ?? "the network").")
        var progress = ProgressLine()
        defer { progress.clear() }
        let path = try SongFile.download(address, to: folder.map { URL(fileURLWithPath: $0).path }) { count, total in
            progress.show { _ in DuetSentences.downloaded(count, of: total) }
            return !Interrupt.isRequested
        }
        guard let path else { throw ExitCodes.interrupted }
        return path
    }

    /// Opens a room for a song, and runs the duet to its end.
    /// - Parameter path: nil for a beat.
    func host(_ song: DuetSong, path: String?, in room: String?, _ options: HostOptions) throws {
        var options = options
        try apply(to: &options.call)
        try options.run(room: room, joinedBy: "duet join") { $0.choose(song, path: path) }
    }

    /// Prefers the least delay, and sets the folder.
    func apply(to call: inout CallOptions) throws {
        call.preferDuet()
        call.duetFolder = folder.map { URL(fileURLWithPath: $0).path }
        call.agreesToDuet = agree
        call.announcesSong = !hideSong
    }
}
