// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Media that are renegotiated while they run, between sessions with real ports over loopback.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct RenegotiationTests {
    /// Counts negotiations, and describes itself as a call does.
    private final class Media: MediaNegotiator {
        struct Counts: Equatable {
            var offers = 0
            var answers = 0
            var accepted = 0
            var ends = 0
        }

        var client: (any MediaClient)? { nil }
        private let sessionID = UInt64.random(in: 1...UInt64(Int64.max))
        private let state = Mutex((counts: Counts(), version: UInt64(0)))

        var counts: Counts { state.withLock { $0.counts } }

        func offer(to peer: PeerID) throws -> SessionDescription {
            count(
                .offer(formats: [.opus()], address: .any, port: 9, sessionID: sessionID, profile: .dtlsSAVPF), \.offers)
        }

        func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription {
            try count(
                .answer(to: offer, supporting: [.opus()], address: .any, port: 9, sessionID: sessionID), \.answers)
        }

        func accept(_ answer: SessionDescription, from peer: PeerID) throws {
            state.withLock { $0.counts.accepted += 1 }
        }

        func end(_ peer: PeerID) { state.withLock { $0.counts.ends += 1 } }

        private func count(
            _ description: SessionDescription, _ what: WritableKeyPath<Counts, Int>
        ) -> SessionDescription {
            state.withLock { state in
                state.counts[keyPath: what] += 1
                state.version += 1
                var description = description
                description.origin.version = state.version
                return description
            }
        }
    }

    @Test func `a renegotiation keeps the transport and the call`() async throws {
        let (hostMedia, guestMedia) = (Media(), Media())
        let (host, guest) = (
            try await Peer("Hanna", media: hostMedia), try await Peer("Gustav", media: guestMedia)
        )
        try await host.host()
        try await guest.enter(host)
        #expect(await happens { await host.hasWays(1) })
        #expect(await happens { await guest.hasWays(1) })
        let (here, there) = (try #require(await host.session.memberID), try #require(await guest.session.memberID))
        let transportIDs = (await host.session.transportID(to: there), await guest.session.transportID(to: here))
        let states = transportEvents(host) + transportEvents(guest)
        let (ofHost, ofGuest) = (hostMedia.counts, guestMedia.counts)

        await host.session.renegotiate(there)
        #expect(await happens { hostMedia.counts.accepted == ofHost.accepted + 1 })
        #expect(hostMedia.counts.offers == ofHost.offers + 1 && guestMedia.counts.answers == ofGuest.answers + 1)
        await guest.session.renegotiate(here)
        #expect(await happens { guestMedia.counts.accepted == ofGuest.accepted + 1 })
        #expect(guestMedia.counts.offers == ofGuest.offers + 1 && hostMedia.counts.answers == ofHost.answers + 1)

        // Both at once, repeatedly: they cross at random.
        for _ in 0..<10 {
            async let one: Void = host.session.renegotiate(there)
            async let other: Void = guest.session.renegotiate(here)
            _ = await (one, other)
        }
        #expect(
            await happens {
                let sessions = (
                    await host.session.offer(with: there),
                    await guest.session.offer(with: here)
                )
                let pending = (
                    await host.session.pendingOffer(to: there),
                    await guest.session.pendingOffer(to: here)
                )
                return sessions.0 == sessions.1 && sessions.0 != nil && pending.0 == nil && pending.1 == nil
            })

        // Renegotiating with a missing member is no error.
        await host.session.renegotiate(try #require(MemberID(77)))
        #expect(hostMedia.counts.ends == ofHost.ends && guestMedia.counts.ends == ofGuest.ends)
        #expect(await host.session.transportID(to: there) == transportIDs.0 && transportIDs.0 != nil)
        #expect(await guest.session.transportID(to: here) == transportIDs.1 && transportIDs.1 != nil)
        #expect(transportEvents(host) + transportEvents(guest) == states)
        host.session.sendDatagram([1, 2, 3], to: there)
        guest.session.sendDatagram([4], to: here)
        #expect(await happens { guest.datagrams.map(\.bytes) == [[1, 2, 3]] && host.datagrams.map(\.bytes) == [[4]] })
        await guest.session.close()
        await host.session.close()
    }

    private func transportEvents(_ peer: Peer) -> [String] {
        peer.events.compactMap { if case .transport(_, let state) = $0 { "\(state)" } else { nil } }
    }
}
