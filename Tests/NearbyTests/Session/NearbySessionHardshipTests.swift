// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Tests a session with faulty peers or files.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct NearbySessionHardshipTests {
    @Test func `an offer interrupted by the end of the host is sent again`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        // A page that never answers, so the guest's offer to it waits.
        await host.session.admitPage()
        try await guest.enter(host)
        let page = try #require(await guest.member("Page"))
        #expect(await happens { await guest.session.isOffering(to: page) })
        let first = await guest.session.pendingOffer(to: page)
        await host.session.leave()
        #expect(await happens { await guest.session.isHost })
        #expect(
            await happens {
                let now = await guest.session.pendingOffer(to: page)
                return now != nil && now != first
            })
        for peer in [guest, host] { await peer.session.close() }
    }

    @Test func `a guest can leave a host that no longer responds without waiting for it`() async throws {
        // A host as others see it, which stops when it is asked to admit a guest.
        let identity = try NearbyStore.inMemory().identity()
        let tls = try TLSIdentity(
            certificatePEM: Array(identity.certificatePEM.utf8), privateKeyPEM: Array(identity.privateKeyPEM.utf8))
        let server = try await HTTPSServer(address: .loopback, port: 0, identity: tls)
        let room = try await Peer("Hanna")
        try await room.host()
        var info = try #require(await room.session.description())
        info.hostKey = identity.fingerprint
        let hasLeft = Atomic(false)
        let serving = Task { [info] in
            await server.run { request in
                if request.method == .GET { return RoomReply.room(info).response }
                while !hasLeft.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(5)) }
                return RoomReply.refused(.closed).response
            }
        }
        let guest = try await Peer("Gustav")
        try await guest.session.join(Endpoint(addresses: [server.localAddress], key: .any))
        #expect(await happens { guest.events.contains { if case .asking = $0 { true } else { false } } })
        // It would never return if it waited for an answer.
        await guest.session.close()
        #expect(guest.ending == .left)
        hasLeft.store(true, ordering: .relaxed)
        server.stop()
        await serving.value
        await room.session.close()
    }

    @Test(arguments: [true, false]) func `a change to the list of known peers takes effect in an open room`(
        isInFolder: Bool
    ) async throws {
        let scratch = try Scratch()
        let store = isInFolder ? NearbyStore(directory: scratch("earshot")) : .inMemory()
        // Another process does this, such as `earshot peers`.
        let elsewhere = isInFolder ? NearbyStore(directory: scratch("earshot")) : store
        let (host, guest) = (try await Peer("Hanna", store: store), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        await host.session.block(try #require(await guest.session.memberID))
        #expect(await happens { guest.ending == .removed(isBlocked: true) })
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.blocked) })
        try elsewhere.update { $0.unblock(guest.session.fingerprint) }
        try await guest.session.join(host.endpoint)
        #expect(await happens { await guest.session.memberID != nil })
        try elsewhere.update { $0.block(guest.session.fingerprint, as: try! PeerName("Gustav"), date: 1) }
        await guest.session.leave()
        #expect(await happens { await host.session.roster?.members.count == 1 })
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.blocked) })
        for peer in [guest, host] { await peer.session.close() }
    }

    @Test(arguments: [true, false])
    func `a guest is stored as known when the session closes, unless its key is in memory only`(isStored: Bool)
        async throws
    {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        let guest = try await Peer("Gustav", store: isStored ? NearbyStore(directory: scratch("gustav")) : .inMemory())
        let host = try await Peer("Hanna", store: store)
        try await host.host()
        try await guest.enter(host)
        await host.session.close()
        #expect(try (store.knownPeers().peers[guest.session.fingerprint] != nil) == isStored)
        await guest.session.close()
    }

    @Test func `a blocked guest stays blocked even if the file cannot be written`() async throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        let (host, guest) = (
            try await Peer("Hanna", store: store),
            try await Peer("Gustav", store: NearbyStore(directory: scratch("gustav")))
        )
        try await host.host()
        try await guest.enter(host)
        #expect(await happens { (try? store.knownPeers().peers.count) == 1 })
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: scratch("earshot/known-peers.json")))
        await host.session.block(try #require(await guest.session.memberID))
        #expect(await happens { host.events.contains { if case .store = $0 { true } else { false } } })
        #expect(await happens { guest.ending == .removed(isBlocked: true) })
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.blocked) })
        for peer in [guest, host] { await peer.session.close() }
    }

    @Test func `a listener that disconnects before its stream begins is not kept`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        await guest.session.close()
        #expect(await happens { await host.session.incoming.feeds.isEmpty })
        let key = try NearbyStore.inMemory().identity().fingerprint
        await host.session.admit(key)
        let caller = RequestOrigin(address: .loopback, key: key)
        let status = await host.session.respond(to: .events(after: nil), caller).status
        #expect(status == .ok)
        #expect(await happens { await host.session.incoming.feeds.isEmpty })
        await host.session.close()
    }

    @Test func `the number of parts of a split room that are probed at once is limited`() async throws {
        let host = try await Peer("Hanna")
        try await host.host()
        let room = try #require(await host.session.roster?.room)
        // A machine that accepts connections but does not answer.
        let listener = try SilentListener()
        let rooms = try (0..<100).map { _ in
            let key = try NearbyStore.inMemory().identity().fingerprint
            return NearbyRoom(
                id: NearbyRoom.ID(roomID: room, hostKey: key, announcedName: "Studio"), name: "Studio",
                hostName: "alpha.local", endpoints: [listener.address],
                announcement: RoomAnnouncement(roomID: room, hostKey: key, needsPIN: false, memberCount: 1),
                isOnThisMachine: false)
        }
        await host.session.saw(rooms)
        await host.session.saw(rooms)
        #expect(await host.session.discovery.probes.runningCount == PartProbes.limit)
        #expect(await host.session.discovery.probes.dates.count == PartProbes.limit)
        await host.session.close()
    }
}

extension NearbySession {
    /// Admits a member that is not a session: only the room's core counts.
    fileprivate func admitPage() {
        guard let name = try? PeerName("Page") else { return }
        let ask = JoinRequestBody(name: name, addresses: [], port: 0)
        handleHostEvent(.requestReceived(.ask(ask), RequestID(1 << 40), from: RequestOrigin(address: .loopback)))
    }

    fileprivate func admit(_ key: KeyFingerprint) {
        guard let name = try? PeerName("Nobody") else { return }
        let ask = JoinRequestBody(name: name, addresses: [], port: 47_400)
        handleHostEvent(
            .requestReceived(.ask(ask), RequestID(1 << 40), from: RequestOrigin(address: .loopback, key: key)))
    }

    fileprivate func isOffering(to member: MemberID) -> Bool {
        pendingOffer(to: member) != nil
    }

    /// Returns its description of the room.
    fileprivate func description() async -> RoomInfo? {
        let response = await respond(to: .describe, RequestOrigin(address: .loopback))
        guard case .bytes(let body) = response.content,
            case .room(let info) = try? RoomReply(to: .describe, status: 200, parts: HTTPMessage(body: body))
        else { return nil }
        return info
    }
}

/// A port that accepts connections but does not answer.
private final class SilentListener {
    let address: SocketAddress
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = try withUnsafeMutablePointer(to: &place) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, size) == 0, listen(descriptor, 128) == 0,
                    getsockname(descriptor, generic, &size) == 0
                else { throw POSIXError(.EADDRINUSE) }
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        self.descriptor = descriptor
        address = SocketAddress(.loopback, port: port)
    }

    deinit { close(descriptor) }
}
