// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct KnownPeersTests {
    private func key(_ number: Int) -> KeyFingerprint { TestKey(number).fingerprint }

    @Test func `a name belongs to the key that was accepted under it`() {
        var peers = KnownPeers()
        #expect(peers.standing(of: key(1), as: name("Anna")) == .unknown)
        peers.note(key(1), as: name("Anna"), isAccepted: false, date: 10)
        #expect(peers.standing(of: key(1), as: name("Anna")) == .unknown)
        #expect(peers.standing(of: key(2), as: name("Anna")) == .unknown)
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 20)
        #expect(peers.standing(of: key(1), as: name("ANNA")) == .known)
        #expect(peers.standing(of: key(2), as: name("anna")) == .changed(was: key(1)))
        #expect(peers.standing(of: key(1), as: name("Annika")) == .known)
        peers.note(key(2), as: name("Bert"), isAccepted: true, date: 30)
        #expect(peers.standing(of: key(2), as: name("Anna")) == .changed(was: key(1)))
        peers.forget(key(1))
        #expect(peers.standing(of: key(2), as: name("Anna")) == .known)
    }

    @Test func `a blocked peer stays blocked under any name until it is unblocked`() {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 10)
        peers.block(key(1), as: name("Anna"), date: 20)
        peers.note(key(1), as: name("Bert"), isAccepted: false, date: 30)
        #expect(peers.standing(of: key(1), as: name("Carl")) == .blocked)
        #expect(peers.standing(of: key(2), as: name("Anna")) == .unknown)
        peers.unblock(key(1))
        #expect(peers.standing(of: key(1), as: name("Anna")) == .unknown)
    }

    @Test func `a peer is found by its name or by the first digits of its fingerprint`() {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 10)
        peers.note(key(2), as: name("Bert"), isAccepted: true, date: 10)
        #expect(peers.keys(matching: "anna") == [key(1)])
        #expect(peers.keys(matching: key(2).description) == [key(2)])
        #expect(peers.keys(matching: String(key(2).hex.prefix(16)).uppercased()) == [key(2)])
        #expect(peers.keys(matching: "xyz") == [] && peers.keys(matching: "") == [])
    }

    @Test func `unknown peers do not displace accepted ones`() {
        var peers = KnownPeers()
        peers.note(key(0), as: name("Anna"), isAccepted: true, date: 0)
        for number in 1...5_000 { peers.note(key(number), as: name("N"), isAccepted: false, date: Int64(number)) }
        #expect(peers.peers.count == KnownPeers.capacity)
        #expect(peers.peers[key(0)]?.isAccepted == true && peers.peers[key(5_000)] != nil && peers.peers[key(1)] == nil)
        for number in 0..<20 { peers.note(key(0), as: name("Name \(number)"), isAccepted: false, date: 1) }
        #expect(peers.peers[key(0)]?.names.count == 8)
    }

    private func some(_ random: inout SeededRandom) -> KnownPeers {
        var peers = KnownPeers()
        for _ in 0..<random.below(30) {
            let key = key(random.below(20))
            let name = name("Name é \(random.below(12))")
            switch random.below(5) {
            case 0: peers.block(key, as: name, date: Int64(random.below(1_000)))
            case 1: peers.forget(key)
            case 2: peers.unblock(key)
            default:
                peers.note(key, as: name, isAccepted: Bool.random(using: &random), date: Int64(random.below(1_000)))
            }
        }
        return peers
    }

    @Test func `a file of known peers is read back as it was written`() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<300 {
            let peers = some(&random)
            #expect(try KnownPeers(parsing: peers.file) == peers)
        }
    }

    @Test func `a damaged file is either an error or a list that can be written again`() throws {
        var random = SeededRandom(seed: 2)
        var errors = 0
        for _ in 0..<5_000 {
            let bytes = random.damaged(
                some(&random).file, pieces: ["\"", "{", "}", "true", "-1", "null", "[]", "\"key\":"])
            do throws(KnownPeersError) {
                let peers = try KnownPeers(parsing: bytes)
                let again = try KnownPeers(parsing: peers.file)
                #expect(again == peers)
            } catch {
                errors += 1
                #expect(error.description.contains("the file is unchanged"))
            }
        }
        #expect(errors > 1_000)
        #expect(throws: KnownPeersError.otherVersion(2)) { try KnownPeers(parsing: Array("{\"version\":2}".utf8)) }
        #expect(throws: KnownPeersError.tooLarge(9 << 20)) {
            try KnownPeers(parsing: [UInt8](repeating: 32, count: 9 << 20))
        }
        #expect(throws: KnownPeersError.damaged("it is not JSON")) { try KnownPeers(parsing: []) }
    }

    private func file(_ entries: [String]) -> [UInt8] {
        Array("{\"version\": 1, \"peers\": [\(entries.joined(separator: ","))]}".utf8)
    }

    private func entry(_ number: Int, names: Int = 1, isAccepted: Bool = false, isBlocked: Bool = false) -> String {
        let names = (0..<names).map { "\"N\($0)\"" }.joined(separator: ",")
        return """
            {"key": "\(key(number).hex)", "names": [\(names)], "firstSeen": 7, "lastSeen": 5, "accepted": \(isAccepted), \
            "blocked": \(isBlocked)}
            """
    }

    @Test func `a file entry has one to eight names, a unique key, and at most one decision`() throws {
        for count in [1, 8] {
            let peers = try KnownPeers(parsing: file([entry(1, names: count), entry(2)]))
            #expect(peers.peers[key(1)]?.names.count == count && peers.peers.count == 2)
            #expect(peers.peers[key(1)]?.firstSeen == 7 && peers.peers[key(1)]?.lastSeen == 7)
        }
        func expectDamage(_ entries: [String], _ what: String) {
            #expect(throws: KnownPeersError.damaged(what)) { try KnownPeers(parsing: file(entries)) }
        }
        expectDamage([entry(1), entry(2, names: 0)], "entry 2 has 0 names")
        expectDamage([entry(1, names: 9)], "entry 1 has 9 names")
        expectDamage([entry(1), entry(1)], "entry 2 has the same key as an earlier one")
        expectDamage([entry(1, isAccepted: true, isBlocked: true)], "entry 1 is accepted and blocked at once")
        let blocked = try KnownPeers(parsing: file([entry(1, isBlocked: true), entry(2, isAccepted: true)]))
        #expect(blocked.standing(of: key(1), as: name("X")) == .blocked)
        #expect(blocked.standing(of: key(2), as: name("X")) == .known)
    }

    @Test func `a file and a list have at most 4,096 entries`() throws {
        let entries = (0...KnownPeers.capacity).map { entry($0) }
        #expect(try KnownPeers(parsing: file(entries.dropLast())).peers.count == KnownPeers.capacity)
        #expect(throws: KnownPeersError.damaged("it has more than 4096 entries")) {
            try KnownPeers(parsing: file(entries))
        }
        var peers = try KnownPeers(parsing: file(entries.dropLast()))
        peers.note(key(3), as: name("N0"), isAccepted: false, date: 100)
        #expect(peers.peers.count == KnownPeers.capacity && peers.peers[key(3)]?.lastSeen == 100)
    }

    @Test func `the unknown peer seen longest ago is displaced, and blocked peers stay`() {
        var peers = KnownPeers()
        peers.block(key(0), as: name("Blocked"), date: 0)
        for number in 1..<KnownPeers.capacity {
            peers.note(key(number), as: name("N"), isAccepted: false, date: Int64(number == 9 ? 1 : 100 + number))
        }
        peers.note(key(9_000), as: name("N"), isAccepted: false, date: 50_000)
        #expect(peers.peers.count == KnownPeers.capacity && peers.peers[key(9)] == nil)
        #expect(peers.peers[key(0)] != nil && peers.peers[key(1)] != nil && peers.peers[key(9_000)] != nil)
    }

    @Test func `a peer keeps its eight newest names, and the dates of its first and last visit`() {
        var peers = KnownPeers()
        for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 5] {
            peers.note(key(1), as: name("N\(number)"), isAccepted: false, date: Int64(100 + number))
        }
        #expect(peers.peers[key(1)]?.names.map(\.text) == ["N5", "N9", "N8", "N7", "N6", "N4", "N3", "N2"])
        #expect(peers.peers[key(1)]?.firstSeen == 101 && peers.peers[key(1)]?.lastSeen == 109)
        #expect(peers.forget(key(1)) && !peers.forget(key(1)) && peers.peers.isEmpty)
    }

    @Test func `accepting lifts a block, blocking ends acceptance, and a shared name belongs to the earlier peer`() {
        var peers = KnownPeers()
        peers.block(key(1), as: name("Anna"), date: 10)
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 20)
        #expect(peers.standing(of: key(1), as: name("Anna")) == .known)
        peers.forget(key(1))
        peers.note(key(2), as: name("Anna"), isAccepted: true, date: 30)
        peers.note(key(3), as: name("Bert"), isAccepted: true, date: 25)
        peers.note(key(3), as: name("Anna"), isAccepted: true, date: 40)
        #expect(peers.owner(of: name("ANNA")) == key(3) && peers.owner(of: name("Carl")) == nil)
        #expect(peers.standing(of: key(4), as: name("Anna")) == .changed(was: key(3)))
        #expect(peers.standing(of: key(2), as: name("Anna")) == .known)
        peers.block(key(3), as: name("Anna"), date: 50)
        #expect(peers.owner(of: name("Anna")) == key(2) && peers.peers[key(3)]?.isAccepted == false)
    }

    @Test func `four digits of a fingerprint identify a peer, and three do not`() {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 10)
        #expect(peers.keys(matching: String(key(1).hex.prefix(4))) == [key(1)])
        #expect(peers.keys(matching: String(key(1).hex.prefix(3))) == [])
        #expect(peers.keys(matching: String(key(1).hex.dropFirst(4))) == [])
        peers.note(key(2), as: name("Anna"), isAccepted: false, date: 10)
        #expect(peers.keys(matching: "Anna") == [key(1), key(2)].sorted { $0.hex < $1.hex })
    }

    @Test func `a file lists peers in the order of their first visit`() throws {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Late"), isAccepted: true, date: 20)
        peers.note(key(2), as: name("Early"), isAccepted: true, date: 10)
        let text = String(decoding: peers.file, as: UTF8.self)
        let early = try #require(text.range(of: "Early"))
        let late = try #require(text.range(of: "Late"))
        #expect(early.lowerBound < late.lowerBound && text.hasSuffix("}\n"))
    }
}
