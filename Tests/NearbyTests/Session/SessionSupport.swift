// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EarshotNearby

/// A session with all its events.
final class Peer: Sendable {
    let session: NearbySession
    private let told = Mutex<[NearbyEvent]>([])
    private let heard = Mutex<[NearbyDatagram]>([])

    init(
        _ name: String, store: NearbyStore = .inMemory(), port: UInt16 = 0, address: IPAddress? = .loopback,
        media: (any MediaNegotiator)? = nil
    ) async throws {
        var configuration = NearbySession.Configuration(name: try PeerName(name), store: store)
        configuration.port = port
        configuration.address = address
        configuration.media = media
        session = try await NearbySession(configuration)
        Task { [self] in for await event in session.events { told.withLock { $0.append(event) } } }
        Task { [self] in for await datagram in session.datagrams { heard.withLock { $0.append(datagram) } } }
    }

    var events: [NearbyEvent] { told.withLock { $0 } }
    var datagrams: [NearbyDatagram] { heard.withLock { $0 } }

    /// The endpoint for others.
    var endpoint: Endpoint {
        Endpoint(addresses: [SocketAddress(.loopback, port: session.port)], key: .exactly(session.fingerprint))
    }

    func host(_ policy: AdmissionPolicy = .all, pin: PIN? = nil, capacity: Int = 8) async throws {
        try await session.host(
            try PeerName("Studio"), policy: policy, pin: pin, capacity: capacity, isAdvertised: false)
    }

    /// Joins, and returns after being admitted.
    func enter(_ host: Peer, pin: PIN? = nil) async throws {
        try await session.join(host.endpoint, pin: pin)
        #expect(await happens { self.isIn })
    }

    var isIn: Bool { events.contains { if case .joined = $0 { true } else { false } } }

    var ending: RoomEnding? {
        events.lazy.compactMap { if case .ended(let ending) = $0 { ending } else { nil } }.last
    }

    var question: (JoinRequestID, AskingGuest)? {
        events.lazy.compactMap { if case .question(let id, let question) = $0 { (id, question) } else { nil } }.last
    }

    var refusals: [RoomError] { events.compactMap { if case .refused(let error, _) = $0 { error } else { nil } } }

    func member(_ name: String) async -> MemberID? { await session.roster?.members.first { $0.name.text == name }?.id }

    /// Returns true if there are media transports to this many others.
    func hasWays(_ count: Int) async -> Bool {
        guard let roster = await session.roster, roster.members.count == count + 1, let me = await session.memberID
        else {
            return false
        }
        return roster.members.allSatisfy {
            guard $0.id != me else { return true }
            if case .open? = session.report(of: $0.id)?.state { return true }
            return false
        }
    }
}

/// The state of the session's core that tests inspect.
extension NearbySession {
    var isAnnounced: Bool { core.choices.isAnnounced }
    func pendingOffer(to member: MemberID) -> OfferID? { core.pendingOffer(to: member) }
    /// Returns the offer that led to the media session with a member.
    func offer(with member: MemberID) -> OfferID? { core.session(with: member) }
    func transportID(to member: MemberID) -> MediaPort.TransportID? { core.transportID(to: member) }
}

/// A folder that is deleted with its last copy.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "earshot-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}
