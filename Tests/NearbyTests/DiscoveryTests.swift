// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// With real Avahi daemons, each on a host with its own D-Bus; avahi-browse and avahi-publish are the independent peers.
@Suite(
    .serialized, .realTime(leastStandstill: 1), .needs("avahi-daemon"),
    .enabled(if: NetworkHost.whyNot == nil, Comment(rawValue: NetworkHost.whyNot ?? "")))
struct DiscoveryTests {
    private static let type = RoomAnnouncement.serviceType

    private func advertise(_ name: String, _ told: RoomAnnouncement, on host: NetworkHost) throws -> RoomAdvertiser {
        try host.inside { try RoomAdvertiser(name: name, port: 47_400, announcement: told) }
    }

    private func browse(on host: NetworkHost) throws -> RoomBrowser { try host.inside { RoomBrowser() } }

    /// avahi-publish, as another program would announce a room.
    private func publish(_ name: String, _ told: RoomAnnouncement, on host: NetworkHost) throws -> ChildProcess {
        try host.start(["avahi-publish", "-s", name, Self.type, "47400"] + strings(in: told.record.bytes))
    }

    private func strings(in bytes: [UInt8]) -> [String] {
        var rest = bytes[...]
        var found: [String] = []
        while let size = rest.popFirst() {
            found.append(String(decoding: rest.prefix(Int(size)), as: UTF8.self))
            rest = rest.dropFirst(Int(size))
        }
        return found
    }

    @Test func `a room is found on another host with all its addresses, and disappears when withdrawn`() throws {
        let network = try TestNetwork("alpha", "beta")
        let (alpha, beta) = (network.hosts[0], network.hosts[1])
        try alpha.link("eth1", to: beta, "eth1")
        try alpha.run("ip address add 10.78.0.1/24 dev eth1")
        try beta.run("ip address add 10.78.0.2/24 dev eth1")
        let servers = try AvahiServer.starting(on: network.hosts)
        defer { withExtendedLifetime((network, servers)) {} }
        let near = try alpha.inside { try NetworkAddress.current() }
        let far = try beta.inside { try NetworkAddress.current() }
        let browser = try browse(on: beta)
        let advertiser = try advertise("Küche", announcement(1, needsPIN: true), on: alpha)
        #expect(eventually { advertiser.state == .advertising(name: "Küche") })

        // The link-local addresses of the remote host, with the numbers of the interfaces on this host that lead there.
        var expected: Set<SocketAddress> = []
        for address in near {
            guard let index = far.first(where: { $0.interface.name == address.interface.name })?.interface.index else {
                continue
            }
            expected.insert(SocketAddress(address.address.scoped(to: index), port: 47_400))
        }
        #expect(expected.count == 4)
        #expect(eventually { browser.snapshot.rooms.first.map { Set($0.endpoints) } == expected })
        let room = try #require(browser.snapshot.rooms.first)
        #expect(browser.snapshot.rooms.count == 1 && browser.snapshot.state == .browsing)
        #expect(room.name == "Küche" && room.hostName == "alpha.local" && !room.isOnThisMachine)
        #expect(room.announcement == announcement(1, needsPIN: true))

        let told = try beta.run("avahi-browse -rpt \(Self.type)")
        let resolved = told.split(separator: "\n").filter { $0.hasPrefix("=;") }
        #expect(resolved.count == 4 && resolved.allSatisfy { $0.contains("alpha.local;") && $0.contains(";47400;") })
        for text in strings(in: announcement(1, needsPIN: true).record.bytes) {
            #expect(resolved.allSatisfy { $0.contains("\"\(text)\"") }, "\(text)")
        }

        advertiser.announcement.memberCount = 3
        #expect(eventually { browser.snapshot.rooms.first?.announcement.memberCount == 3 })
        #expect(browser.snapshot.rooms.first?.id == room.id)
        let own = try browse(on: alpha)
        #expect(eventually { own.snapshot.rooms.first?.isOnThisMachine == true })
        advertiser.stop()
        #expect(advertiser.state == .stopped)
        #expect(eventually { browser.snapshot.rooms.isEmpty && own.snapshot.rooms.isEmpty })
        #expect(browser.snapshot.state == .browsing)
        browser.stop()
        #expect(browser.snapshot.state == .stopped)
    }

    @Test func `a name already in use gets the next number, on another host and on the same one`() async throws {
        let network = try TestNetwork("alpha", "beta")
        let servers = try AvahiServer.starting(on: network.hosts)
        defer { withExtendedLifetime((network, servers)) {} }
        let first = try advertise("Song", announcement(1), on: network.hosts[0])
        #expect(eventually { first.state == .advertising(name: "Song") })
        let second = try advertise("Song", announcement(2), on: network.hosts[1])
        let all = second.states()
        var states: [RoomAdvertiser.State] = []
        #expect(eventually { second.state == .advertising(name: "Song #2") })
        for await state in all {
            states.append(state)
            if case .advertising = state { break }
            if case .unavailable = state { break }
        }
        #expect(states.contains(.collision(taken: "Song", trying: "Song #2")))
        #expect(states.last == .advertising(name: "Song #2"))
        let third = try advertise("Song", announcement(3), on: network.hosts[0])
        #expect(eventually { third.state == .advertising(name: "Song #3") })
        let browser = try browse(on: network.hosts[1])
        #expect(eventually { browser.snapshot.rooms.map(\.name) == ["Song", "Song #2", "Song #3"] })
        #expect(browser.snapshot.rooms.map(\.announcement.roomID.bytes[0]) == [1, 2, 3])
    }

    @Test func `a room is announced again under its name after the daemon crashes and restarts`() throws {
        let network = try TestNetwork("alpha", "beta")
        let servers = try AvahiServer.starting(on: network.hosts)
        defer { withExtendedLifetime((network, servers)) {} }
        let advertiser = try advertise("Song", announcement(1), on: network.hosts[0])
        let browser = try browse(on: network.hosts[1])
        #expect(eventually { browser.snapshot.rooms.count == 1 })
        servers[0].kill()
        #expect(eventually { advertiser.state == .unavailable(.noDaemon(isInstalled: true)) })
        advertiser.announcement.memberCount = 2
        servers[1].stop()
        #expect(eventually { browser.snapshot.state == .unavailable(.noDaemon(isInstalled: true)) })
        #expect(browser.snapshot.rooms.isEmpty)
        for server in servers { try server.start() }
        #expect(eventually { advertiser.state == .advertising(name: "Song") })
        #expect(eventually { browser.snapshot.rooms.first?.announcement.memberCount == 2 })
        #expect(browser.snapshot.state == .browsing && browser.snapshot.rooms.count == 1)
        // Also while it is being announced.
        let second = try advertise("Duet", announcement(2), on: network.hosts[0])
        servers[0].kill()
        #expect(eventually { second.state == .unavailable(.noDaemon(isInstalled: true)) })
        try servers[0].start()
        #expect(eventually { second.state == .advertising(name: "Duet") })
        #expect(eventually { browser.snapshot.rooms.map(\.name) == ["Duet", "Song"] })
    }

    @Test func `a missing daemon or bus is reported immediately, and discovery resumes once both run`() throws {
        let network = try TestNetwork("alpha")
        defer { withExtendedLifetime(network) {} }
        let alpha = network.hosts[0]
        let advertiser = try advertise("Song", announcement(1), on: alpha)
        let browser = try browse(on: alpha)
        #expect(eventually { advertiser.state == .unavailable(.noBus) })
        #expect(eventually { browser.snapshot.state == .unavailable(.noBus) })
        let server = try AvahiServer(on: alpha, isDaemonStarted: false)
        defer { withExtendedLifetime(server) {} }
        #expect(eventually { advertiser.state == .unavailable(.noDaemon(isInstalled: true)) })
        #expect(eventually { browser.snapshot.state == .unavailable(.noDaemon(isInstalled: true)) })
        try server.start()
        #expect(eventually { advertiser.state == .advertising(name: "Song") })
        #expect(eventually { browser.snapshot.rooms.map(\.name) == ["Song"] })
        server.stopBus()
        #expect(eventually { advertiser.state == .unavailable(.noBus) })
        #expect(eventually { browser.snapshot.state == .unavailable(.noBus) })
    }

    @Test func `rooms published by another program appear and disappear, and an invalid record is ignored`() throws {
        let network = try TestNetwork("alpha", "beta")
        let servers = try AvahiServer.starting(on: network.hosts)
        defer { withExtendedLifetime((network, servers)) {} }
        let browser = try browse(on: network.hosts[1])
        let alpha = network.hosts[0]
        var rooms = try (1...3).map { try publish("Room \($0)", announcement($0), on: alpha) }
        let strangers = try [
            alpha.start(["avahi-publish", "-s", "No room", Self.type, "47400", "v=1", "id=aaaa"]),
            publish("\u{1B}[31mRed", announcement(4), on: alpha),
        ]
        #expect(
            eventually { browser.snapshot.rooms.map(\.name) == ["Room 1", "Room 2", "Room 3", "\u{FFFD}[31mRed"] })
        #expect(browser.snapshot.rooms.map(\.announcement) == (1...4).map { announcement($0) })
        for left in [2, 1] {
            rooms.removeLast().signal(SIGTERM)
            #expect(eventually { browser.snapshot.rooms.count == left + 1 })
        }
        #expect(browser.snapshot.rooms.map(\.name) == ["Room 1", "\u{FFFD}[31mRed"])
        withExtendedLifetime(strangers) {}
    }

    @Test func `a daemon that hangs does not block the advertiser or the browser`() throws {
        let network = try TestNetwork("alpha")
        let server = try AvahiServer(on: network.hosts[0])
        defer { withExtendedLifetime((network, server)) {} }
        let advertiser = try advertise("Song", announcement(1), on: network.hosts[0])
        #expect(eventually { advertiser.state == .advertising(name: "Song") })
        server.setPaused(true)
        advertiser.announcement.memberCount = 2  // which waits for the daemon, on its own thread
        let browser = try browse(on: network.hosts[0])
        #expect(browser.snapshot.state == .starting)
        browser.stop()
        advertiser.stop()
        #expect(advertiser.state == .stopped)
        server.setPaused(false)
    }

    @Test(arguments: ["", String(repeating: "é", count: 32), "two\nlines", "\u{1B}[31m"])
    func `a name that cannot be announced is refused`(name: String) {
        let error = #expect(throws: DiscoveryError.self) {
            _ = try RoomAdvertiser(name: name, port: 1, announcement: announcement(1))
        }
        #expect(error == .invalidName(name))
        #expect(error?.description.contains("\n") == false && error?.description.contains("\u{1B}") == false)
    }

    @Test func `every error message says that room discovery is off`() {
        let errors: [DiscoveryError] = [
            .noBus, .noDaemon(isInstalled: true), .noDaemon(isInstalled: false), .refused(reason: "Access denied"),
        ]
        for error in errors { #expect(error.description.hasPrefix("room discovery is off: ")) }
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
