// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// A guest with key 1, and the host of ``TestHost``, which answers when the test says so.
struct TestGuest {
    var guest: RoomGuest
    var now = HostTime.seconds(1_000)
    var actions: [RoomGuest.Action] = []
    let hostAddress = SocketAddress(address(100), port: 47_400)

    init(hasPIN: Bool = false, known: KnownPeers = KnownPeers()) {
        var configuration = RoomGuest.Configuration(name: name("Guest 1"), addresses: [address(1)])
        configuration.hasPIN = hasPIN
        guest = RoomGuest(configuration, signer: TestKey(1).signer, knownPeers: known)
    }

    /// A guest that was admitted, with an open stream.
    static func inside(_ test: inout TestHost) -> TestGuest {
        var guest = TestGuest()
        guest.now = test.now
        guest.join()
        guest.pump(&test)
        return guest
    }

    mutating func join(_ key: Endpoint.ExpectedKey = .any) {
        actions = guest.join(Endpoint(addresses: [hostAddress], key: key), at: now)
    }

    /// Returns the latest pending call of that kind.
    func call(_ isMeant: (RoomRequest) -> Bool) -> CallID? {
        var found: CallID?
        for case .call(let id, let request, _) in actions where isMeant(request) { found = id }
        return found
    }

    /// Offers media to a member. - Returns: the offer's name, and the actions.
    mutating func offer(to id: MemberID, number: UInt64 = 1) throws -> (OfferID, [RoomGuest.Action]) {
        let offer = OfferID(from: try #require(guest.memberID), number: number)
        return (offer, guest.offer("o", as: offer, to: id, at: now))
    }

    var news: [RoomGuest.Notification] { actions.compactMap { if case .notify(let news) = $0 { news } else { nil } } }

    /// Lets the host answer all calls, and the guest act on the answers.
    mutating func pump(_ test: inout TestHost, ignoring isLost: (RoomRequest) -> Bool = { _ in false }) {
        var open = actions
        while !open.isEmpty {
            guard case .call(let id, let request, _) = open.removeFirst(), !isLost(request) else { continue }
            let (requestID, answers) = test.send(request, caller(1))
            var next: [RoomGuest.Action] = []
            for answer in answers {
                switch answer {
                case .reply(requestID, let reply):
                    next += guest.replied(id, reply, provedBy: TestKey(0).fingerprint, from: hostAddress, at: now)
                    if case .events = reply { streams[requestID] = id }
                default: next += deliver(answer)
                }
            }
            actions += next
            open += next
        }
    }

    var streams: [RequestID: CallID] = [:]

    mutating func deliver(_ action: RoomHost.Action) -> [RoomGuest.Action] {
        guard case .send(let bytes, let request) = action, let id = streams[request] else { return [] }
        var parser = EventStreamParser()
        return try! parser.parse(bytes).flatMap { guest.received($0, on: id, at: now) }
    }

    /// Advances the time without any answers.
    mutating func wait(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        while now < end {
            now = min(end, now.advanced(bySeconds: 0.1))
            actions += guest.tick(at: now)
        }
    }
}
