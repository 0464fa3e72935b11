// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotNearby

@Suite struct RoomSightingsTests {
    @Test func `a room seen on several interfaces and address families is listed once, with all addresses`() throws {
        var rig = Rig()
        rig.see("Song", at: "10.0.0.1", announcement(1), interface: 2)
        rig.see("Song", at: "fe80::1%2", announcement(1), interface: 2)
        rig.see("Song", at: "10.1.0.1", announcement(1, members: 2), interface: 3)
        rig.see("Song", at: "2001:db8::1", announcement(1), interface: 3)
        rig.see("Song", at: "10.0.0.1", announcement(1), interface: 4)
        let room = try #require(rig.sightings.rooms.first)
        #expect(rig.sightings.rooms.count == 1 && room.name == "Song" && room.hostName == "alpha.local")
        #expect(
            room.endpoints.map(\.description) == [
                "10.0.0.1:47400", "10.1.0.1:47400", "[2001:db8::1]:47400", "[fe80::1%2]:47400",
            ])
        #expect(room.announcement.memberCount == 2 && !room.isOnThisMachine)
    }

    @Test func `rooms with the same name are distinguished by their keys`() {
        var rig = Rig()
        rig.see("Song", at: "10.0.0.1", announcement(1), interface: 2)
        rig.see("Song", at: "10.1.0.1", announcement(1, key: 9), interface: 3)
        rig.see("Song", at: "10.2.0.1", announcement(2, key: 1), interface: 4)
        #expect(rig.sightings.rooms.count == 3 && Set(rig.sightings.rooms.map(\.id)).count == 3)
        #expect(rig.sightings.rooms.map(\.endpoints.count) == [1, 1, 1])
    }

    @Test func `a room is listed until its last sighting is removed`() {
        var rig = Rig()
        let first = rig.see("Song", at: "10.0.0.1", announcement(1), interface: 2)
        let second = rig.see("Song", at: "10.1.0.1", announcement(1), interface: 3)
        rig.sightings.remove(first)
        #expect(rig.sightings.rooms.first?.endpoints.map(\.description) == ["10.1.0.1:47400"])
        rig.sightings.update(second, nil)
        #expect(rig.sightings.rooms.isEmpty)
        rig.sightings.remove(second)
        rig.sightings.update(second, rig.sighting("10.1.0.1", announcement(1)))
        #expect(rig.sightings.rooms.isEmpty, "what is not followed is not seen")
    }

    @Test(arguments: [
        "0.0.0.0", "::", "127.0.0.1", "::1", "224.0.0.251", "ff02::fb", "255.255.255.255", "::ffff:127.0.0.1",
    ])
    func `a room with an unusable address is not listed`(address: String) {
        var rig = Rig()
        rig.see("Song", at: address, announcement(1), interface: 2)
        #expect(rig.sightings.rooms.isEmpty)
    }

    @Test func `a room on this machine may have a loopback address`() {
        var rig = Rig()
        rig.see("Song", at: "127.0.0.1", announcement(1), interface: 1, isOnThisMachine: true)
        #expect(rig.sightings.rooms.map(\.isOnThisMachine) == [true])
    }

    @Test func `the numbers of listed rooms and of their addresses are limited`() {
        var rig = Rig()
        for n in 0..<5_000 { rig.see("Song \(n)", at: "10.0.0.1", announcement(1), interface: 2) }
        #expect(rig.sightings.rooms.count == RoomSightings.maximumPlaceCount)
        rig = Rig()
        for n in 0..<200 { rig.see("Song", at: "10.0.0.\(n)", announcement(1), interface: Int32(n + 1)) }
        #expect(rig.sightings.rooms.map(\.endpoints.count) == [RoomSightings.maximumEndpointCount])
    }

    @Test func `control characters in announced room and host names are replaced`() {
        var rig = Rig()
        rig.see("\u{1B}]0;owned\u{7}", at: "10.0.0.1", announcement(1), interface: 2, host: "a\u{1B}[2J.local")
        #expect(rig.sightings.rooms.map(\.name) == ["\u{FFFD}]0;owned\u{FFFD}"])
        #expect(rig.sightings.rooms.map(\.hostName) == ["a\u{FFFD}[2J.local"])
    }
}

private struct Rig {
    var sightings = RoomSightings()

    func sighting(_ address: String, _ told: RoomAnnouncement, host: String = "alpha.local") -> RoomSightings.Sighting?
    {
        IPAddress(address).map {
            RoomSightings.Sighting(hostName: host, endpoint: SocketAddress($0, port: 47_400), announcement: told)
        }
    }

    @discardableResult
    mutating func see(
        _ name: String, at address: String, _ told: RoomAnnouncement, interface: Int32, isOnThisMachine: Bool = false,
        host: String = "alpha.local"
    ) -> RoomSightings.Place {
        let place = RoomSightings.Place(interface: interface, isV6: address.contains(":"), name: name, domain: "local")
        _ = sightings.add(place, isOnThisMachine: isOnThisMachine)
        sightings.update(place, sighting(address, told, host: host))
        return place
    }
}
