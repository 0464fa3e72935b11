// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

extension RoomKeyBindings {
    /// Handles a key while no question changes.
    fileprivate mutating func take(_ key: Key, _ snapshot: LiveCallSnapshot) -> Action? {
        take(key, snapshot, at: HostTime(nanoseconds: 0))
    }
}

@Suite struct RoomKeysTests {
    private let asks = [JoinRequestID(number: 7), JoinRequestID(number: 9)]

    /// The room of a host with these guests waiting and these admitted.
    private static func room(
        asking: [JoinRequestID] = [], others: [(UInt64, String)] = [], isHost: Bool = true
    ) throws -> LiveCallSnapshot {
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
        snapshot.phase = .inRoom
        snapshot.localParticipant = try participant(99, "Me", isHost: isHost)
        snapshot.participants = try others.map { try participant($0, $1) }
        snapshot.joinRequests = try asking.map {
            JoinRequest(
                id: $0,
                guest: AskingGuest(
                    name: try PeerName("Guest"), purpose: nil, key: nil, address: .loopback, isKnown: false))
        }
        return snapshot
    }

    private static func participant(_ number: UInt64, _ name: String, isHost: Bool = false) throws -> Participant {
        let member = Member(
            id: try #require(MemberID(number)), name: try PeerName(name), key: nil, addresses: [], port: 0)
        return Participant(member, isHost: isHost)
    }

    /// A time on a test's clock.
    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: seconds) }

    @Test func `one key answers a single join request`() throws {
        let commands: [(Character, LiveCallCommand)] = [
            ("y", .admit(asks[0])), ("n", .decline(asks[0])), ("b", .blockRequest(asks[0])),
        ]
        for (key, command) in commands {
            var keys = RoomKeyBindings()
            #expect(keys.take(.character(key), try Self.room(asking: [asks[0]])) == .perform(command))
        }
    }

    @Test func `several join requests require a number first, which is valid for one answer`() throws {
        var keys = RoomKeyBindings()
        var seconds = 0.0
        func take(_ key: Key, _ asking: [JoinRequestID]) throws -> RoomKeyBindings.Action? {
            seconds += RoomKeyBindings.settlingTime
            let room = try Self.room(asking: asking)
            keys.update(room, at: Self.time(seconds - RoomKeyBindings.settlingTime))
            return keys.take(key, room, at: Self.time(seconds))
        }
        guard case .say? = try take(.character("y"), asks), case .say? = try take(.character("2"), asks) else {
            Issue.record("nobody is let in")
            return
        }
        #expect(try take(.character("y"), asks) == .perform(.admit(asks[1])))
        _ = try take(.character("2"), asks)
        // The chosen guest has left: only one waits.
        #expect(try take(.character("n"), [asks[0]]) == .perform(.decline(asks[0])))
        _ = try take(.character("1"), asks)
        guard case .say? = try take(.escape, asks), case .say? = try take(.character("y"), asks) else {
            Issue.record("Escape takes the number back")
            return
        }
        #expect(try take(.character("5"), asks) == .say("There is no number 5."))
        #expect(try take(.character("7"), []) == nil)
    }

    @Test func `removing and blocking require a number`() throws {
        let room = try Self.room(others: [(2, "Bob"), (5, "Cleo")])
        let cleo = room.participants[1].id
        let commands: [(Character, LiveCallCommand)] = [("x", .remove(cleo)), ("b", .block(cleo))]
        for (key, command) in commands {
            var keys = RoomKeyBindings()
            guard case .say(let words)? = keys.take(.character(key), room) else {
                Issue.record("it asks whom")
                continue
            }
            #expect(words.contains("1 Bob, 2 Cleo"))
            #expect(keys.take(.character("2"), room) == .perform(command))
            #expect(keys.take(.character("2"), room) == nil)
            _ = keys.take(.character(key), room)
            _ = keys.take(.escape, room)
            #expect(keys.take(.character("1"), room) == nil)
        }
    }

    @Test func `a guest cannot use the host's keys`() throws {
        let room = try Self.room(others: [(1, "Ann")], isHost: false)
        for key in "ynbx1" {
            var keys = RoomKeyBindings()
            #expect(keys.take(.character(key), room) == nil)
        }
        var keys = RoomKeyBindings()
        #expect(keys.take(.character("m"), room) == .perform(.setMuted(true)))
        var muted = room
        muted.isMuted = true
        #expect(keys.take(.character("m"), muted) == .perform(.setMuted(false)))
        #expect(keys.take(.character("q"), room) == .quit)
    }

    @Test(arguments: [true, false]) func `r starts and stops recording, for host and guest`(isHost: Bool) throws {
        var room = try Self.room(others: [(1, "Ann")], isHost: isHost)
        var keys = RoomKeyBindings()
        #expect(keys.take(.character("r"), room) == .perform(.startRecording(folder: nil)))
        room.recording = CallRecordingStatus(folder: "/takes", since: HostTime(nanoseconds: 1))
        #expect(keys.take(.character("R"), room) == .perform(.stopRecording))
    }

    @Test(arguments: [true, false]) func `y and n answer who wants to record the user's voice`(isHost: Bool) throws {
        var room = try Self.room(others: [(1, "Ann")], isHost: isHost)
        room.participants[0].isRecording = true
        for (key, isAllowed) in [("y", true), ("Y", true), ("n", false), ("N", false)] as [(Character, Bool)] {
            var keys = RoomKeyBindings()
            #expect(keys.take(.character(key), room) == .perform(.allowRecording(isAllowed)))
        }
    }

    @Test func `join requests are answered before a request to record the user's voice`() throws {
        var room = try Self.room(asking: [asks[0]], others: [(1, "Ann")])
        room.participants[0].isRecording = true
        var keys = RoomKeyBindings()
        #expect(keys.take(.character("y"), room) == .perform(.admit(asks[0])))
        #expect(keys.take(.character("n"), room) == .perform(.decline(asks[0])))
        room.joinRequests = []
        keys.update(room, at: Self.time(0))
        #expect(keys.take(.character("n"), room, at: Self.time(1)) == .perform(.allowRecording(false)))
        room.allowsRecording = false
        #expect(keys.take(.character("n"), room, at: Self.time(1)) == .say("Nobody is asking to join."))
    }

    /// The questions that one key answers: a guest, another guest, and participants who record.
    private static func questions(_ asks: [JoinRequestID]) throws -> [(
        room: LiveCallSnapshot, yes: LiveCallCommand, no: LiveCallCommand
    )] {
        var recorded = try room(others: [(1, "Ann")])
        recorded.participants[0].isRecording = true
        return [
            (try room(asking: [asks[0]], others: [(1, "Ann")]), .admit(asks[0]), .decline(asks[0])),
            (try room(asking: [asks[1]], others: [(1, "Ann")]), .admit(asks[1]), .decline(asks[1])),
            (recorded, .allowRecording(true), .allowRecording(false)),
        ]
    }

    @Test func `y and n answer a question only a second after another question was open`() throws {
        let changed = RoomKeyBindings.Action.say("The question changed. Press y or n again.")
        let questions = try Self.questions(asks)
        let quiet = try Self.room(others: [(1, "Ann")])
        for (from, before) in questions.enumerated() {
            for (to, question) in questions.enumerated() where to != from {
                // The key comes with the change, soon after it, or after a time without a question.
                for (key, gap) in [("y", false), ("Y", true), ("n", false), ("N", true)] as [(Character, Bool)] {
                    var keys = RoomKeyBindings()
                    keys.update(before.room, at: Self.time(10))
                    if gap { keys.update(quiet, at: Self.time(11)) }
                    #expect(keys.take(.character(key), question.room, at: Self.time(11)) == changed)
                    #expect(keys.take(.character(key), question.room, at: Self.time(11.999)) == changed)
                    let command = "yY".contains(key) ? question.yes : question.no
                    #expect(keys.take(.character(key), question.room, at: Self.time(12)) == .perform(command))
                }
            }
        }
    }

    @Test func `the first question, and one long after another, are answered at once`() throws {
        let quiet = try Self.room(others: [(1, "Ann")])
        for question in try Self.questions(asks) {
            var keys = RoomKeyBindings()
            keys.update(quiet, at: Self.time(10))
            #expect(keys.take(.character("y"), question.room, at: Self.time(10)) == .perform(question.yes))
            keys.update(quiet, at: Self.time(11))
            #expect(keys.take(.character("n"), question.room, at: Self.time(12)) == .perform(question.no))
        }
    }

    @Test func `no key blocks a guest who asks in place of another, unless the user chose the guest`() throws {
        let (first, second) = (try Self.room(asking: [asks[0]]), try Self.room(asking: [asks[1]]))
        for key in "bB" {
            var keys = RoomKeyBindings()
            keys.update(first, at: Self.time(10))
            #expect(
                keys.take(.character(key), second, at: Self.time(10.1)) == .say("The question changed. Press b again."))
            #expect(keys.take(.character(key), second, at: Self.time(11.1)) == .perform(.blockRequest(asks[1])))
        }
        let both = try Self.room(asking: asks)
        for (key, command) in [("y", .admit(asks[1])), ("b", .blockRequest(asks[1]))] as [(Character, LiveCallCommand)]
        {
            var keys = RoomKeyBindings()
            keys.update(both, at: Self.time(10))
            _ = keys.take(.character("2"), both, at: Self.time(10))
            #expect(keys.take(.character(key), second, at: Self.time(10.1)) == .perform(command))
            // The chosen guest has left.
            _ = keys.take(.character("1"), both, at: Self.time(20))
            guard case .say? = keys.take(.character(key), second, at: Self.time(20.1)) else {
                Issue.record("a guest is answered whom the user did not choose")
                continue
            }
        }
    }

    @Test func `arrows select one participant after the other, and then the whole playback`() throws {
        let room = try Self.room(others: [(2, "Bob"), (5, "Cleo")])
        let (bob, cleo) = (room.participants[0].id, room.participants[1].id)
        var keys = RoomKeyBindings()
        for id in [bob, cleo, nil, bob] as [MemberID?] {
            #expect(keys.take(.down, room) == .select(id) && keys.selection == id)
        }
        for id in [nil, cleo, bob] as [MemberID?] { #expect(keys.take(.up, room) == .select(id)) }
        #expect(keys.take(.escape, room) == .select(nil) && keys.selection == nil)
        #expect(keys.take(.escape, room) == nil)
    }

    @Test func `plus and minus change the volume of the selected participant, or of the whole playback`() throws {
        var room = try Self.room(others: [(2, "Bob")])
        let bob = room.participants[0].id
        var keys = RoomKeyBindings()
        for key in "+=" {
            #expect(
                keys.take(.character(key), room) == .perform(.setOutputVolume(VolumeSentences.factor(2))), "\(key)")
        }
        room.outputVolume = VolumeSentences.factor(2)
        #expect(keys.take(.character("-"), room) == .perform(.setOutputVolume(1)))
        _ = keys.take(.down, room)
        for key in "-_" {
            #expect(
                keys.take(.character(key), room) == .perform(.setVolume(VolumeSentences.factor(-2), of: bob)),
                "\(key)")
        }
    }

    @Test(
        arguments: [
            (1, 2, 2), (1, -2, -2), (0, 2, -58), (0, -2, -60), (8, 2, 18), (8, -2, 16), (0.25, -2, -14), (0.7, 2, -2),
        ] as [(Float, Double, Double)])
    func `a volume moves on whole steps within -60 to 18 dB`(volume: Float, step: Double, decibels: Double) {
        let changed = RoomVolumeKeys.volume(volume, changedBy: step)
        #expect(changed == VolumeSentences.factor(decibels), "\(VolumeSentences.decibels(changed))")
    }

    @Test func `v toggles whether the selected participant is heard`() throws {
        var room = try Self.room(others: [(2, "Bob")])
        let bob = room.participants[0].id
        var keys = RoomKeyBindings()
        #expect(keys.take(.character("v"), room) == .say("Select a participant first: ↑ or ↓"))
        _ = keys.take(.up, room)
        #expect(keys.take(.character("v"), room) == .perform(.setHeard(false, of: bob)))
        room.participants[0].isHeard = false
        for key in "+-" {
            // A change would not be heard.
            #expect(
                keys.take(.character(key), room) == .say("You do not hear Bob. Press v to hear Bob again."), "\(key)")
        }
        #expect(keys.take(.character("V"), room) == .perform(.setHeard(true, of: bob)))
        // The only one who is not heard needs no selection.
        var fresh = RoomKeyBindings()
        #expect(fresh.take(.character("v"), room) == .perform(.setHeard(true, of: bob)))
        room.participants = []
        // The keys do not change the whole playback by mistake.
        #expect(keys.take(.character("-"), room) == .say("The selected participant left."))
        #expect(keys.selection == nil && keys.take(.character("v"), room) == .say("Nobody else is in the room."))
    }

    @Test func `a room without sound has no volume keys, nor has a call before the room`() throws {
        let room = try Self.room(others: [(2, "Bob")])
        var (silent, outside) = (room, room)
        silent.sound = .none
        outside.phase = .joining(nil)
        for key in [.up, .down, .escape, .character("+"), .character("-"), .character("v")] as [Key] {
            var keys = RoomKeyBindings()
            #expect(keys.take(key, silent) == nil && keys.take(key, outside) == nil, "\(key)")
        }
    }

    @Test func `Escape cancels a choice before it ends the selection`() throws {
        let room = try Self.room(others: [(2, "Bob")])
        var keys = RoomKeyBindings()
        _ = keys.take(.down, room)
        _ = keys.take(.character("x"), room)
        #expect(keys.take(.escape, room) == .say("Cancelled.") && keys.selection == room.participants[0].id)
        #expect(keys.take(.escape, room) == .select(nil))
    }

    @Test func `volume keys answer no question, and leave it open`() throws {
        let room = try Self.room(asking: [asks[0]], others: [(2, "Bob")])
        var keys = RoomKeyBindings()
        keys.update(room, at: Self.time(0))
        for key in [.down, .character("+"), .character("-"), .character("v")] as [Key] {
            switch keys.take(key, room, at: Self.time(1)) {
            case .select?, .perform(.setVolume)?, .perform(.setHeard)?: break
            case let action: Issue.record("\(key): \(String(describing: action))")
            }
        }
        #expect(keys.take(.character("y"), room, at: Self.time(1)) == .perform(.admit(asks[0])))
    }

    @Test func `keys play, seek, skip and change an accompaniment, and say that there is none`() throws {
        var keys = RoomKeyBindings()
        var room = try Self.room(others: [(2, "Bob")])
        #expect(keys.take(.character("a"), room) == .say(AccompanimentSentences.none))
        for key in [Key.left, .right, .character("["), .character("<"), .character("l")] {
            #expect(keys.take(key, room) == nil, "\(key)")
        }
        var song = AccompanimentStatus(path: "/a.wav")
        song.duration = 200
        song.setPosition(20, at: Self.time(0), isMoving: true)
        room.accompaniment = song
        for (key, control) in [
            (.character("a"), .play), (.character("l"), .setForAll(true)), (.left, .seek(to: 17)),
            (.right, .seek(to: 27)), (.character("["), .previous), (.character("]"), .next),
            (.character("<"), .setGain(VolumeSentences.factor(-2))),
            (.character(">"), .setGain(VolumeSentences.factor(2))),
        ] as [(Key, AccompanimentControl)] {
            #expect(keys.take(key, room, at: Self.time(2)) == .perform(.controlAccompaniment(control)), "\(key)")
        }
        (song.isPlaying, song.isForAll) = (true, true)
        room.accompaniment = song
        #expect(keys.take(.character("A"), room) == .perform(.controlAccompaniment(.pause)))
        #expect(keys.take(.character("l"), room) == .perform(.controlAccompaniment(.setForAll(false))))
        room.sound = .none
        #expect(keys.take(.character("a"), room) == nil)
    }

    @Test func `the status line shows the accompaniment and its position`() {
        var status = AccompanimentStatus(path: "/songs/Song.flac")
        (status.duration, status.isPlaying, status.isForAll) = (200, true, true)
        status.setPosition(62, at: Self.time(0), isMoving: true)
        var line = RoomStatusLine(elapsed: 3)
        line.accompaniment = AccompanimentDocument(status, at: Self.time(1))
        #expect(line.plain.contains("♪ Song.flac 1:03/3:20 for all"), "\(line.plain)")
        #expect(line.sentences.contains("Accompaniment: Song.flac, playing at 1:03 of 3:20, for all."))
        #expect(line.text(width: 50, hasColour: false).contains("1:03/3:20"))
    }

    @Test(arguments: [true, false]) func `the hint fits 80 columns, and the help has every key`(isHost: Bool) {
        #expect(RoomKeyBindings.hint(isHost: isHost).count < 80)
        #expect(RoomKeyBindings.hint(isHost: isHost).contains("r record"))
        let help = RoomKeyBindings.help(isHost: isHost)
        for words in [
            "r  start or stop recording", "y, n  let others record your voice, or decline",
            "a  play or pause the accompaniment", "l  for all, or only for you", "[ ]  previous or next file",
            "↑ ↓  select a participant", "+ -  volume by 2 dB", "v  do not hear the selected participant",
        ] {
            #expect(help.contains(words))
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count < 80 })
        #expect(help.contains("x  remove a participant by number") == isHost)
    }
}
