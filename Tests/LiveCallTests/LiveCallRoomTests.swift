// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The room's events, and their effects.
@Suite struct LiveCallRoomTests {
    @Test func `a guest requests to join, waits and is admitted`() throws {
        var rig = CoreRig()
        try rig.perform(.join(CoreRig.endpoint))
        #expect(rig.snapshot.phase == .joining(nil) && rig.actions.room == ["join"])
        rig.joinAsGuest()
        #expect(rig.snapshot.isInRoom && rig.snapshot.participants.map(\.name.text) == ["Ann"])
        #expect(rig.snapshot.localParticipant?.name.text == "Bob" && !rig.snapshot.isHost)
        #expect(rig.snapshot[CoreRig.id(1)]?.isHost == true)
        let hasJoined = rig.events.contains { if case .roomJoined = $0.kind { true } else { false } }
        #expect(hasJoined)
    }

    @Test func `a host's room is open once its join codes are known`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        try rig.perform(.host(CoreRig.opening))
        #expect(rig.snapshot.phase == .opening)
        rig.handle(.room(.joined(rig.makeRoster([CoreRig.member(1)], host: 1), as: CoreRig.id(1))))
        #expect(rig.events.isEmpty && rig.actions.room == ["host", "codes"])
        let code = try JoinCode(address: .loopback, port: 47_400, key: CoreRig.key(1))
        rig.handle(.joinCodes([code]))
        #expect(rig.snapshot.joinCodes == [code] && rig.snapshot.isHost && rig.events.count == 1)
        rig.handle(.joinCodes([]))
        #expect(rig.events.count == 1)
    }

    @Test func `a PIN is requested, and requested again if it was wrong`() throws {
        var rig = CoreRig()
        try rig.perform(.join(CoreRig.endpoint))
        let pin = try PIN("1234")
        rig.handle(.room(.pinNeeded))
        #expect(rig.snapshot.pinRequest == .missing)
        try rig.perform(.providePIN(pin))
        #expect(rig.snapshot.pinRequest == nil && rig.actions.room.last == "provide")
        rig.handle(.room(.ended(.refused(.wrongPIN(attemptsLeft: 2)))))
        #expect(rig.snapshot.pinRequest == .wrong(attemptsLeft: 2) && rig.snapshot.ending == nil)
        try rig.perform(.providePIN(pin))
        #expect(rig.actions.room.last == "join")
        rig.handle(.room(.ended(.refused(.wrongPIN(attemptsLeft: 0)))))
        #expect(rig.snapshot.ending == .room(.refused(.wrongPIN(attemptsLeft: 0))) && rig.snapshot.pinRequest == nil)
    }

    @Test func `a lost host is reported after 700 ms, and a slow one after 2 s`() throws {
        func count(_ rig: CoreRig, _ isIt: (LiveCallEvent.Kind) -> Bool) -> Int { rig.events.count { isIt($0.kind) } }
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.handle(.room(.reconnecting))
        rig.wait(0.65)
        #expect(count(rig) { if case .hostLost = $0 { true } else { false } } == 0 && !rig.snapshot.isHostLost)
        rig.wait(0.2)
        #expect(count(rig) { if case .hostLost = $0 { true } else { false } } == 1 && rig.snapshot.isHostLost)
        rig.handle(.room(.reconnected))
        #expect(count(rig) { if case .hostFound = $0 { true } else { false } } == 1 && !rig.snapshot.isHostLost)
        rig.handle(.room(.reconnecting))
        rig.wait(0.3)
        rig.handle(.room(.reconnected))
        #expect(count(rig) { if case .hostFound = $0 { true } else { false } } == 1)

        var other = CoreRig()
        try other.perform(.join(CoreRig.endpoint))
        other.handle(.room(.asking(.test)))
        other.wait(1.9)
        #expect(count(other) { if case .hostSlow = $0 { true } else { false } } == 0)
        other.wait(2)
        #expect(count(other) { if case .hostSlow = $0 { true } else { false } } == 1)
    }

    @Test func `each change of the roster is reported once`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        let (ann, bob) = (CoreRig.member(1), CoreRig.member(2))
        rig.change(to: [ann, bob, CoreRig.member(3)])
        rig.change(to: [ann, bob, CoreRig.member(3, isMuted: true)])
        rig.change(to: [ann, bob, CoreRig.member(3, isMuted: true, isAway: true)])
        rig.change(to: [ann, bob])
        // A new host may report the same departure again.
        rig.handle(.room(.changed([.left(CoreRig.member(3))], rig.makeRoster([ann, bob], host: 1))))
        let reported = rig.events.compactMap { event -> String? in
            switch event.kind {
            case .participantJoined(let one): "joined \(one.name)"
            case .participantMuted(let one): "\(one.isMuted ? "muted" : "unmuted") \(one.name)"
            case .participantAway(let one): "\(one.isAway ? "away" : "back") \(one.name)"
            case .participantLeft(let one, let isLost): "\(isLost ? "lost" : "left") \(one.name)"
            default: nil
            }
        }
        #expect(reported == ["joined Cid", "muted Cid", "away Cid", "lost Cid"])
    }

    @Test func `a guest who becomes the host admits by its own policy`() {
        var rig = CoreRig { $0.admission = .known }
        rig.joinAsGuest()
        let roster = rig.makeRoster([CoreRig.member(2), CoreRig.member(3)], host: 2)
        rig.handle(.room(.becameHost(roster)))
        #expect(rig.actions.room.suffix(2) == ["admission known", "codes"] && rig.snapshot.isHost)
        let before = rig.events.count
        rig.handle(.joinCodes([]))
        guard case .becameHost? = rig.events.last?.kind else {
            Issue.record("the last of \(rig.events.count) events is another")
            return
        }
        #expect(rig.events.count == before + 1)
    }

    @Test func `a guest who becomes the host no longer reports a lost host`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.joinAsGuest()
        rig.handle(.room(.reconnecting))
        rig.wait(1)
        #expect(rig.snapshot.isHostLost)
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2)], host: 2))))
        #expect(!rig.snapshot.isHostLost)
    }

    @Test func `a pending PIN request is cleared when the room is joined`() throws {
        var rig = CoreRig()
        try rig.perform(.join(CoreRig.endpoint))
        rig.handle(.room(.pinNeeded))
        rig.joinAsGuest()
        #expect(rig.snapshot.isInRoom && rig.snapshot.pinRequest == nil)
    }

    @Test func `a withdrawn join request is reported once, with its guest`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.ask(4)
        rig.ask(4)
        #expect(rig.snapshot.joinRequests.map(\.id.number) == [4])
        rig.handle(.room(.withdrawn(JoinRequestID(number: 4), .cancelled)))
        guard case .joinRequestWithdrawn(let request, .cancelled)? = rig.events.last?.kind else {
            Issue.record("no withdrawal")
            return
        }
        #expect(request.guest.name.text == "Cid" && rig.snapshot.joinRequests.isEmpty)
        let count = rig.events.count
        rig.handle(.room(.withdrawn(JoinRequestID(number: 4), .cancelled)))
        #expect(rig.events.count == count)
    }

    @Test func `a failure of the store is reported once, and another one again`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        let count = rig.events.count
        for path in ["/x", "/x", "/y", "/y"] { rig.handle(.room(.store(.laterVersion(path)))) }
        let reported = rig.events[count...].compactMap { event -> NearbyStoreError? in
            if case .storeFailed(let error) = event.kind { error } else { nil }
        }
        #expect(reported == [.laterVersion("/x"), .laterVersion("/y")])
    }

    @Test func `a mute from before the room is announced in the room`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        try rig.perform(.setMuted(true))
        rig.host()
        #expect(rig.actions.room == ["tell muted", "host", "tell muted", "codes"])
        #expect(rig.snapshot.localParticipant?.isMuted == true)
        var other = CoreRig()
        other.joinAsGuest()
        #expect(other.actions.room == ["join"])
    }

    @Test(arguments: [(-1, 2), (0, 2), (2, 2), (5, 5), (9, 8)]) func `a room's capacity is clamped to its limits`(
        asked: Int, got: Int
    )
        throws
    {
        var rig = CoreRig()
        var opening = CoreRig.opening
        opening.capacity = asked
        guard case .room(.host(let opened, _))? = try rig.perform(.host(opening)).first else {
            Issue.record("no room")
            return
        }
        #expect(opened.capacity == got)
    }

    @Test func `a host that rejoins as a guest has no join codes`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.handle(.joinCodes([try JoinCode(address: .loopback, port: 47_400, key: CoreRig.key(1))]))
        rig.handle(.room(.discovery(.advertising(name: "x"))))
        #expect(!rig.snapshot.joinCodes.isEmpty && rig.snapshot.discovery != nil)
        let roster = rig.makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 2)
        rig.handle(.room(.joined(roster, as: CoreRig.id(1))))
        #expect(rig.snapshot.joinCodes.isEmpty && rig.snapshot.discovery == nil && !rig.snapshot.isHost)
    }

    @Test func `a room that cannot be opened ends the call`() throws {
        var rig = CoreRig()
        try rig.perform(.host(CoreRig.opening))
        rig.handle(.roomFailed(.busy))
        #expect(rig.snapshot.ending == .session(.busy) && rig.actions.room.last == "close")
    }

    @Test func `a transfer is listed in the snapshot until it is finished`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.sendFile(path: "/a/b/song.wav"))
        #expect(rig.snapshot.transfers.map(\.name) == ["song.wav"] && rig.snapshot.transfers[0].state == .sending)
        var transfer = rig.snapshot.transfers[0]
        #expect(rig.core.nextTransferID() == transfer.id + 1)
        transfer.state = .sent
        rig.handle(.transfer(transfer))
        #expect(rig.snapshot.transfers.isEmpty)
    }
}

extension RoomInfo {
    static let test = RoomInfo(
        room: RoomID(bytes: [UInt8](repeating: 7, count: 16))!, name: CoreRig.name(1), epoch: .first, role: .host,
        hostName: CoreRig.name(1), hostKey: CoreRig.key(1), isHostHeard: true, memberCount: 1,
        capacity: 8, needsPIN: false)
}
