// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Sessions with real ports, over loopback.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct NearbySessionTests {
    @Test func `an admitted guest connects to the host, and datagrams pass both ways`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        #expect(await happens { await host.hasWays(1) })
        #expect(await happens { await guest.hasWays(1) })
        let (here, there) = (await host.session.memberID, await guest.session.memberID)
        host.session.sendDatagram([1, 2, 3], to: try #require(there))
        guest.session.sendDatagram([4], to: try #require(here))
        #expect(await happens { guest.datagrams.map(\.bytes) == [[1, 2, 3]] })
        #expect(await happens { host.datagrams.map(\.bytes) == [[4]] })
        #expect(host.datagrams.first?.sender == there)
        await guest.session.close()
        #expect(await happens { await host.session.roster?.members.count == 1 })
        await host.session.close()
        #expect(guest.ending == .left && host.ending == .left)
    }

    @Test func `three participants connect to each other, and stay connected when the host leaves`() async throws {
        let peers = [try await Peer("Hanna"), try await Peer("Gustav"), try await Peer("Greta")]
        try await peers[0].host()
        try await peers[1].enter(peers[0])
        try await peers[2].enter(peers[0])
        for peer in peers { #expect(await happens { await peer.hasWays(2) }) }
        await peers[0].session.leave()
        #expect(await happens { await peers[1].session.isHost })
        #expect(await happens { await peers[2].session.roster?.host == peers[1].session.memberID })
        #expect(await happens { await peers[1].hasWays(1) })
        // The next host does not announce a room that was not announced.
        #expect(await peers[1].session.isAnnounced == false)
        // Media between the remaining members was not disturbed.
        let third = try #require(await peers[2].session.memberID)
        #expect(peers[1].session.report(of: third)?.statistics.moves ?? 1 <= 1)
        // And the new host admits guests as its own user wants.
        await peers[1].session.setPolicy(.all)
        let late = try await Peer("Late")
        try await late.enter(peers[1])
        #expect(await happens { await late.hasWays(2) })
        // The old one may return.
        try await peers[0].session.join(peers[1].endpoint)
        #expect(await happens { await peers[0].hasWays(3) })
        for peer in peers + [late] { await peer.session.close() }
    }

    @Test func `the host's user can decline and admit a guest`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host(.ask)
        try await guest.session.join(host.endpoint, purpose: try Purpose("to sing"))
        #expect(await happens { host.question != nil })
        var (id, question) = try #require(host.question)
        #expect(question.name.text == "Gustav" && question.purpose?.text == "to sing")
        #expect(question.key == guest.session.fingerprint && !question.isKnown)
        await host.session.decide(id, isWelcome: false)
        #expect(await happens { guest.ending == .refused(.declined) })
        try await guest.session.join(host.endpoint)
        #expect(await happens { host.question?.0 != id })
        (id, question) = try #require(host.question)
        await host.session.decide(id, isWelcome: true)
        #expect(await happens { guest.isIn })
        await guest.session.close()
        await host.session.close()
    }

    @Test func `a question to the host is withdrawn when the guest gives up`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host(.ask)
        try await guest.session.join(host.endpoint)
        #expect(await happens { host.question != nil })
        await guest.session.leave()
        #expect(guest.ending == .left)
        #expect(
            await happens { host.events.contains { if case .withdrawn(_, .cancelled) = $0 { true } else { false } } })
        await guest.session.close()
        await host.session.close()
    }

    @Test func `a right PIN is accepted, and a wrong one is reported on both sides`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host(.ask, pin: try PIN("4711"))
        await guest.session.update(allowsRecording: true)
        try await guest.session.join(host.endpoint, pin: try PIN("4712"))
        #expect(await happens { guest.ending == .refused(.wrongPIN(attemptsLeft: 4)) })
        #expect(await happens { host.refusals == [.wrongPIN(attemptsLeft: 4)] })
        // Without a PIN the user is asked, and may still enter it.
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.events.contains { if case .pinNeeded = $0 { true } else { false } } })
        await guest.session.provide(try PIN("4711"))
        #expect(await happens { host.question != nil || guest.isIn })
        if let id = host.question?.0 { await host.session.decide(id, isWelcome: true) }
        #expect(await happens { guest.isIn })
        // The answer before the first attempt was not lost.
        #expect(await host.session.roster?.members.last?.allowsRecording == true)
        await guest.session.close()
        await host.session.close()
    }

    @Test func `only a peer accepted before is known, identified by its key and not by its name`() async throws {
        let store = NearbyStore.inMemory()
        let host = try await Peer("Hanna", store: store)
        try await host.host(.known)
        let guest = try await Peer("Gustav")
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.unknownKey) })
        try store.update { $0.note(guest.session.fingerprint, as: try! PeerName("Gustav"), isAccepted: true, date: 1) }
        await host.session.leave()
        try await host.host(.known)
        try await guest.enter(host)
        let other = try await Peer("Gustav")
        try await other.session.join(host.endpoint)
        #expect(await happens { other.ending != nil })
        #expect(!other.isIn)
        for peer in [guest, other, host] { await peer.session.close() }
    }

    @Test func `no request is sent to a host with another key than expected`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        let wrong = Endpoint(addresses: host.endpoint.addresses, key: .exactly(guest.session.fingerprint))
        try await guest.session.join(wrong)
        #expect(
            await happens { guest.ending == .unreached(.wrongKey(host.session.fingerprint), wrong) },
            "\(String(describing: guest.ending))")
        #expect(host.events.count == 1)
        await guest.session.close()
        await host.session.close()
    }

    @Test func `a full room refuses a guest and names its limit`() async throws {
        let (host, first, second) = (try await Peer("Hanna"), try await Peer("Gustav"), try await Peer("Greta"))
        try await host.host(capacity: 2)
        try await first.enter(host)
        try await second.session.join(host.endpoint)
        #expect(await happens { second.ending == .refused(.full(limit: 2)) })
        for peer in [first, second, host] { await peer.session.close() }
    }

    @Test func `a removed guest is notified and may ask again, but a blocked one may not`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        #expect(await happens { await guest.hasWays(1) })
        await host.session.remove(try #require(await guest.session.memberID))
        #expect(await happens { guest.ending == .removed(isBlocked: false) })
        try await guest.session.join(host.endpoint)
        #expect(await happens { await guest.session.memberID != nil })
        #expect(await happens { await guest.hasWays(1) })
        #expect(await happens { await host.hasWays(1) })
        await host.session.block(try #require(await guest.session.memberID))
        #expect(await happens { guest.ending == .removed(isBlocked: true) }, "\(guest.events)")
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.blocked) })
        await guest.session.close()
        await host.session.close()
    }

    @Test func `changes of names and mute reach all participants`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        await guest.session.update(name: try PeerName("Gus"), isMuted: true)
        #expect(
            await happens {
                await host.session.roster?.members.last.map { $0.name.text == "Gus" && $0.isMuted } == true
            })
        await host.session.update(isMuted: true)
        #expect(await happens { await guest.session.roster?.members.first?.isMuted == true })
        await guest.session.close()
        await host.session.close()
    }

    @Test func `recording and consent reach all participants, and only recording stays set in the next room`()
        async throws
    {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        await host.session.update(allowsRecording: true)
        try await host.host()
        #expect(await host.session.roster?.members.first?.allowsRecording == true)
        try await guest.enter(host)
        await guest.session.update(isRecording: true, allowsRecording: false)
        #expect(
            await happens {
                await host.session.roster?.members.last.map { $0.isRecording && $0.allowsRecording == false } == true
            })
        await host.session.update(isRecording: true)
        #expect(await happens { await guest.session.roster?.members.first?.isRecording == true })
        #expect(await guest.session.roster?.members.first?.allowsRecording == true)
        let firstRoom = await host.session.roster?.room
        await guest.session.leave()
        await host.session.leave()
        try await host.host()
        #expect(await host.session.roster?.room != firstRoom)
        try await guest.session.join(host.endpoint)
        #expect(await happens { await host.session.roster?.members.count == 2 })
        let members = await host.session.roster?.members ?? []
        #expect(members.count == 2 && members.allSatisfy { $0.isRecording && $0.allowsRecording == nil })
        await guest.session.close()
        await host.session.close()
    }

    @Test func `a port in use is reported, and a guest may use any other port`() async throws {
        let host = try await Peer("Hanna")
        await #expect(throws: NearbyError.self) { _ = try await Peer("Hugo", port: host.session.port) }
        var configuration = NearbySession.Configuration(name: try PeerName("Gustav"), store: .inMemory())
        configuration.port = host.session.port
        configuration.address = .loopback
        configuration.takesAnyPort = true
        let guest = try await NearbySession(configuration)
        #expect(guest.port != host.session.port)
        await guest.close()
        await host.session.close()
    }

    @Test func `an unreachable host, a peer that hosts no room, and one's own room are distinguished`() async throws {
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .refused(.notHost) })
        await host.session.close()
        try await guest.session.join(host.endpoint)
        #expect(await happens { guest.ending == .unreached(.refused, host.endpoint) })
        let store = NearbyStore.inMemory()
        let (mine, twin) = (try await Peer("Hanna", store: store), try await Peer("Hanna", store: store))
        try await mine.host()
        try await twin.session.join(mine.endpoint)
        #expect(await happens { twin.ending == .refused(.ownKey) })
        for peer in [guest, mine, twin] { await peer.session.close() }
    }

    @Test func `members send each other messages, streams and files`() async throws {
        let scratch = try Scratch()
        let (host, guest) = (try await Peer("Hanna"), try await Peer("Gustav"))
        try await host.host()
        try await guest.enter(host)
        let (here, there) = (try #require(await host.session.memberID), try #require(await guest.session.memberID))
        #expect(await happens { await host.session.roster?.members.count == 2 })
        let arrivals = guest.session.arrivals

        try await host.session.send(Array("hello".utf8), to: [there])
        guard case .message(let bytes, from: here) = try await arrivals.next() else {
            Issue.record("no message of the host's")
            return
        }
        #expect(bytes == Array("hello".utf8))

        let outgoing = try await host.session.openStream(named: try PeerName("notes"), to: there)
        async let writing: Void = {
            for n in 0..<100 { try await outgoing.write([UInt8](repeating: UInt8(n), count: 1_000)) }
            try await outgoing.finish()
        }()
        guard case .stream(let incoming, from: here) = try await arrivals.next() else {
            Issue.record("no stream of the host's")
            return
        }
        var received: [UInt8] = []
        for try await piece in incoming { received += piece }
        try await writing
        #expect(received == (0..<100).flatMap { [UInt8](repeating: UInt8($0), count: 1_000) })

        try Data(received).write(to: URL(fileURLWithPath: scratch("take.wav")))
        let file = try await host.session.sendFile(at: scratch("take.wav"), to: [there])
        guard case .file(let offered, from: here) = try await arrivals.next() else {
            Issue.record("no file of the host's")
            return
        }
        try FileManager.default.createDirectory(atPath: scratch("in"), withIntermediateDirectories: true)
        try await offered.accept(into: scratch("in"))
        let path = try await offered.finished()
        try await file.finished()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(received))

        await guest.session.close()
        await #expect(throws: TransferFailure.self) { try await host.session.send([1], to: [there]) }
        await host.session.close()
        await #expect(throws: TransferFailure.self) { try await host.session.send([1], to: [there]) }
    }
}
