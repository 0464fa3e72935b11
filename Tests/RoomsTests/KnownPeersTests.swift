import MediaTransport
import TestSupport
import Testing

@testable import Rooms

@Suite struct KnownPeersTests {
    private func key(_ number: Int) -> KeyFingerprint { TestKey(number).fingerprint }

    @Test func `a name belongs to the key that a person let in under it`() {
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

    @Test func `who is blocked stays so under any name until that is lifted`() {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 10)
        peers.block(key(1), as: name("Anna"), date: 20)
        peers.note(key(1), as: name("Bert"), isAccepted: false, date: 30)
        #expect(peers.standing(of: key(1), as: name("Carl")) == .blocked)
        #expect(peers.standing(of: key(2), as: name("Anna")) == .unknown)
        peers.unblock(key(1))
        #expect(peers.standing(of: key(1), as: name("Anna")) == .unknown)
    }

    @Test func `a person names a peer by name or by the first digits`() {
        var peers = KnownPeers()
        peers.note(key(1), as: name("Anna"), isAccepted: true, date: 10)
        peers.note(key(2), as: name("Bert"), isAccepted: true, date: 10)
        #expect(peers.keys(matching: "anna") == [key(1)])
        #expect(peers.keys(matching: key(2).description) == [key(2)])
        #expect(peers.keys(matching: String(key(2).hex.prefix(16)).uppercased()) == [key(2)])
        #expect(peers.keys(matching: "xyz") == [] && peers.keys(matching: "") == [])
    }

    @Test func `strangers do not push out friends`() {
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

    @Test func `a file is read as it was written`() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<300 {
            let peers = some(&random)
            #expect(try KnownPeers(parsing: peers.file) == peers)
        }
    }

    @Test func `a damaged file is an error, never another list that cannot be written`() throws {
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
                #expect(error.description.contains("left as it is"))
            }
        }
        #expect(errors > 1_000)
        #expect(throws: KnownPeersError.otherVersion(2)) { try KnownPeers(parsing: Array("{\"version\":2}".utf8)) }
        #expect(throws: KnownPeersError.tooLarge(9 << 20)) {
            try KnownPeers(parsing: [UInt8](repeating: 32, count: 9 << 20))
        }
        #expect(throws: KnownPeersError.damaged("it is no JSON")) { try KnownPeers(parsing: []) }
    }
}
