// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

@Suite struct RoomKeysTests {
    private let asks = [JoinRequestID(number: 7), JoinRequestID(number: 9)]

    /// The room of a host with these guests waiting and these admitted.
    private static func room(
        asking: [JoinRequestID] = [], others: [(UInt64, String)] = [], isHost: Bool = true
    ) throws -> LiveCallSnapshot {
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .none)
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
        func take(_ key: Key, _ asking: [JoinRequestID]) throws -> RoomKeyBindings.Action? {
            keys.take(key, try Self.room(asking: asking))
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

    @Test(arguments: [true, false]) func `r starts a recording and ends it, for host and guest`(isHost: Bool) throws {
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
        #expect(keys.take(.character("n"), room) == .perform(.allowRecording(false)))
        room.allowsRecording = false
        #expect(keys.take(.character("n"), room) == .say("Nobody is asking to join."))
    }

    @Test(arguments: [true, false]) func `the hint fits 80 columns, and the help has every key`(isHost: Bool) {
        #expect(RoomKeyBindings.hint(isHost: isHost).count < 80)
        #expect(RoomKeyBindings.hint(isHost: isHost).contains("r record"))
        let help = RoomKeyBindings.help(isHost: isHost)
        for words in ["r  start or end a recording", "y, n  allow a participant to record your voice, or decline"] {
            #expect(help.contains(words))
        }
        #expect(help.contains("x  remove a participant by number") == isHost)
    }
}
