// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// The numbers of the events that a host sends to a guest.
@Suite struct RoomGuestEventTests {
    /// A guest whose last event has this number, its stream, and its reaction when the host says that the roster is newer.
    private struct Listener {
        var guest: TestGuest
        let stream: CallID
        let last: EventID
        private let revision: UInt64

        init() throws {
            var test = TestHost()
            guest = TestGuest.inside(&test)
            stream = try #require(guest.streams.values.first)
            last = try #require(guest.guest.membership?.lastEvent)
            revision = test.host.roster.revision
        }

        /// Receives an event without contents except its number.
        mutating func receive(number: UInt64) {
            let id = EventID(epoch: last.epoch, number: number)
            let event = ServerSentEvent(id: "\(id)", name: "unheard-of", data: "{}")
            _ = guest.guest.received(.event(event), on: stream, at: guest.now)
        }

        /// The host answers the next keep-alive, and its roster is newer than the guest's.
        /// - Returns: true if the guest opened a stream that begins with the whole roster.
        mutating func readsRosterAgain() throws -> Bool {
            guest.actions = []
            guest.wait(2)
            let update = try #require(guest.call { if case .update = $0 { true } else { false } })
            let status = MemberStatus(epoch: last.epoch, revision: revision + 1)
            guest.actions = guest.guest.replied(
                update, .status(status), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
            let isCancelled = guest.actions.contains(.cancel(stream))
            let isOpened = guest.call { $0 == .events(after: nil) } != nil
            #expect(isCancelled == isOpened)
            return isOpened
        }
    }

    @Test func `after a gap in event numbers, the first newer revision makes the guest reload the roster`() throws {
        var listener = try Listener()
        listener.receive(number: listener.last.number + 2)
        #expect(listener.guest.guest.membership?.lastEvent?.number == listener.last.number + 2)
        #expect(try listener.readsRosterAgain())
    }

    @Test func `without a gap, only the second newer revision makes the guest reload the roster`() throws {
        var listener = try Listener()
        listener.receive(number: listener.last.number + 1)
        #expect(listener.guest.guest.membership?.lastEvent?.number == listener.last.number + 1)
        #expect(try !listener.readsRosterAgain())
        #expect(try listener.readsRosterAgain())
    }

    @Test func `a repeated event is not a gap, and does not move the event number back`() throws {
        var listener = try Listener()
        listener.receive(number: listener.last.number + 1)
        listener.receive(number: listener.last.number + 1)
        listener.receive(number: listener.last.number)
        #expect(listener.guest.guest.membership?.lastEvent?.number == listener.last.number + 1)
        #expect(try !listener.readsRosterAgain())
    }

    @Test func `a stream that opens but delivers no data is reopened, although the host responds`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let first = try #require(guest.streams.values.first)
        guest.actions = guest.guest.failed(first, .closed, at: guest.now)
        guest.wait(0.2)
        let silent = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions = guest.guest.replied(
            silent, .events, provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
        let status = MemberStatus(epoch: .first, revision: test.host.roster.revision)
        var seen = 0
        for _ in 0..<52 {
            guest.wait(0.1)
            for case .call(let id, .update, _) in guest.actions[seen...] {
                guest.actions += guest.guest.replied(
                    id, .status(status), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
            }
            seen = guest.actions.count
        }
        #expect(guest.actions.contains(.cancel(silent)) && !guest.news.contains(.reconnecting))
        #expect(guest.call { if case .events = $0 { true } else { false } } != nil)
    }

    @Test func `the newest addresses of the host are kept, up to a member's limit`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let limit = Member.maximumAddressCount
        let seen = (1...limit + 3).map { SocketAddress(address(100 + $0), port: 47_400) }
        for (n, address) in seen.enumerated() {
            _ = guest.guest.located(TestKey(0).fingerprint, at: address, time: guest.now)
            let kept = guest.guest.membership?.host.addresses ?? []
            #expect(kept.count == min(limit, n + 2))
            #expect(kept.prefix(n + 1).elementsEqual(seen[...n].reversed().prefix(limit)))
        }
        // A known one moves to the front.
        _ = guest.guest.located(TestKey(0).fingerprint, at: seen[limit], time: guest.now)
        let kept = guest.guest.membership?.host.addresses ?? []
        #expect(kept.first == seen[limit] && kept.count == limit && Set(kept).count == limit)
    }
}
