// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import Testing

@testable import EarshotNearby

/// A search by name on virtual time.
@Suite struct RoomFinderTests {
    private static func room(_ name: String, key: UInt8 = 1) throws -> NearbyRoom {
        let announcement = announcement(1, key: key)
        return NearbyRoom(
            id: .init(roomID: announcement.roomID, hostKey: announcement.hostKey, announcedName: name), name: name,
            hostName: "alpha.local", endpoints: [SocketAddress(.loopback, port: 47_400)], announcement: announcement,
            isOnThisMachine: false)
    }

    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Returns the outcome of a search for `Song`, and the second of its end, for rooms that appear at given seconds.
    private static func search(
        timeout: Double = 10, _ seen: [(Double, RoomBrowser.Snapshot)]
    ) -> (RoomFinder.Outcome?, Double) {
        var finder = RoomFinder("Song", timeout: timeout, at: time(100))
        for step in 0..<600 {
            let elapsed = Double(step) / 20
            let snapshot = seen.last { $0.0 <= elapsed }?.1 ?? .init(state: .starting, rooms: [])
            if let outcome = finder.update(snapshot, at: time(100 + elapsed)) { return (outcome, elapsed) }
        }
        return (nil, 30)
    }

    private static func browsing(_ rooms: [NearbyRoom]) -> RoomBrowser.Snapshot {
        .init(state: .browsing, rooms: rooms)
    }

    @Test func `an exact name match is returned immediately`() throws {
        let rooms = [try Self.room("song", key: 2), try Self.room("Song")]
        let (outcome, seconds) = Self.search([(1, Self.browsing(rooms))])
        #expect(outcome == .found(rooms[1]) && seconds == 1)
    }

    @Test func `a name that matches except for case is returned after half a second`() throws {
        let room = try Self.room("SONG")
        let (outcome, seconds) = Self.search([(1, Self.browsing([room]))])
        #expect(outcome == .found(room) && seconds > 1.5 && seconds < 1.7)
        let exact = try Self.room("Song", key: 2)
        let (better, _) = Self.search([(1, Self.browsing([room])), (1.4, Self.browsing([room, exact]))])
        #expect(better == .found(exact))
    }

    @Test func `two rooms with the same name are reported as ambiguous after half a second`() throws {
        let rooms = [try Self.room("Song"), try Self.room("Song", key: 2)]
        let (outcome, seconds) = Self.search([(2, Self.browsing(rooms))])
        #expect(outcome == .ambiguous(rooms) && seconds > 2.5 && seconds < 2.7)
    }

    @Test func `a name that no room has is reported as not found at the timeout`() throws {
        let rooms = [try Self.room("Sonata"), try Self.room("Soul", key: 2)]
        let (outcome, seconds) = Self.search(timeout: 3, [(0, Self.browsing(rooms))])
        #expect(outcome == .notFound(seen: ["Sonata", "Soul"], problem: nil) && seconds > 3 && seconds < 3.2)
    }

    @Test func `the search ends after one second without a daemon, not earlier`() throws {
        let gone = RoomBrowser.Snapshot(state: .unavailable(.noBus), rooms: [])
        let (outcome, seconds) = Self.search([(0, gone)])
        #expect(outcome == .notFound(seen: [], problem: .noBus) && seconds > 1 && seconds < 1.2)
        let room = try Self.room("Song")
        let (found, _) = Self.search([(0, gone), (0.8, Self.browsing([room]))])
        #expect(found == .found(room))
        let (short, when) = Self.search(timeout: 0.3, [(0, gone)])
        #expect(short == .notFound(seen: [], problem: .noBus) && when < 0.5)
    }
}
