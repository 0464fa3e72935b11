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
            Guests get the song's file, and all must agree before it begins. After a song, n offers the next one. A beat needs no file, and is not in the mix. Without --dial and --codec, the call has the least delay: --dial sing, --codec pcm.
            """)

    static let examples = [
        CommandExample("Sing a song with whoever joins", "earshot duet host 'Blue Moon.ogg'"),
        CommandExample("Sing a song from the network", "earshot duet host https://example.org/songs/moon.ogg"),
        CommandExample("Sing two songs, one after the other", "earshot duet host first.ogg second.ogg"),
        CommandExample("Help the singers with a recorded voice", "earshot duet host song.ogg --guide vocal.ogg"),
        CommandExample("Count in a waltz", "earshot duet host waltz.mp3 --tempo 160 --bar 3"),
        CommandExample("Sing to a beat for ten minutes", "earshot duet host --beat 96 --length 10m"),
        CommandExample("Sing with known guests over JACK", "earshot duet host song.mp3 --accept known --device jack"),
    ]

    @Argument(
        help: "The songs to sing, one after the other: sound files of any kind, or http addresses. --beat needs none.",
        completion: .file())
    var songs: [String] = []

    @Option(help: ArgumentHelp("The room's name, up to 63 bytes. [default: NAME's room]", valueName: "room"))
    var room: String?

    @OptionGroup(title: "Song") var beat: BeatOptions

    @OptionGroup(title: "Song") var guide: GuideOptions

    @OptionGroup(title: "Duet") var duet: DuetOptions

    @OptionGroup var options: HostOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        try beat.check(song: songs.first)
        try guide.check(songCount: songs.count)
        if let room { try RoomOptions.check { try PeerName(room) } }
        try DuetOptions.check(options.call)
    }

    func run() throws {
        duet.reportUnfinished()
        if !songs.isEmpty {
            return try duet.host(songs, beat: beat.ofSong, guide: guide.guide, in: room, options)
        }
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

    /// Reads songs, opens a room for the first one, and runs the duet to its end.
    /// - Parameters:
    ///   - beat: the beat of each song's count-in; nil if unknown.
    ///   - guide: the guide vocal of the only song.
    func host(
        _ songs: [String], beat: Beat? = nil, guide: String? = nil, in room: String?, _ options: HostOptions
    ) throws {
        var found: [HostSong] = []
        try Failure.reporting { found = try songs.map { try HostSong($0, beat: beat, guide: guide, to: folder) } }
        guard let first = found.first else { return }
        var options = options
        options.call.nextSongs = found.dropFirst().map { NextSong.Named(path: $0.path, beat: beat) }
        try host(first.song, path: first.path, guidePath: first.guidePath, in: room, options)
    }

    /// Opens a room for a song, and runs the duet to its end.
    /// - Parameters:
    ///   - path: nil for a beat.
    ///   - guidePath: the path of the guide vocal; nil without one.
    func host(
        _ song: DuetSong, path: String?, guidePath: String? = nil, in room: String?, _ options: HostOptions
    ) throws {
        var options = options
        try apply(to: &options.call)
        try options.run(room: room, joinedBy: "duet join") {
            $0.choose(song, path: path, guidePath: guidePath)
        }
    }

    /// Prefers the least delay, and sets the folder.
    func apply(to call: inout CallOptions) throws {
        call.preferDuet()
        call.duetFolder = folder.map { URL(fileURLWithPath: $0).path }
        call.agreesToDuet = agree
        call.announcesSong = !hideSong
    }
}
