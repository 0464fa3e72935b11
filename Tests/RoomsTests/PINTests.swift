// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct PINTests {
    private let room = RoomID("00000000000000000000000008")!
    private let host = TestKey(0).fingerprint
    private let guest = TestKey(1).fingerprint

    @Test func `digests match the test vectors of the standards`() {
        // FIPS 180-4's "abc", RFC 4231's case 2, and RFC 7914 §11's PBKDF2 (its first 32 bytes).
        #expect(
            hex(Digest.sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(Digest.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            hex(Digest.pbkdf2("passwd", salt: Array("salt".utf8), rounds: 1))
                == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
        #expect(Digest.isEqual([1, 2], [1, 2]) && !Digest.isEqual([1, 2], [1, 3]) && !Digest.isEqual([1], [1, 2]))
        #expect(Digest.isEqual([], []))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private func verifier(_ pin: String = "4711") throws -> PINVerifier {
        PINVerifier(
            PINKey(try PIN(pin), room: room, host: host, rounds: 10), secret: [UInt8](repeating: 1, count: 32))
    }

    private func proof(
        _ nonce: [UInt8], pin: String = "4711", host: KeyFingerprint? = nil, guest: KeyFingerprint? = nil
    )
        throws -> [UInt8]
    {
        PINKey(try PIN(pin), room: room, host: host ?? self.host, rounds: 10).proof(
            by: .guest, nonce: nonce, guest: (guest ?? self.guest).bytes)
    }

    private func check(
        _ verifier: inout PINVerifier, _ proof: [UInt8], guest: KeyFingerprint? = nil, at seconds: Double
    )
        -> PINVerifier.Verdict
    {
        let guest = guest ?? self.guest
        return verifier.check(
            proof, guest: guest.bytes, key: guest, address: address(1), isKnown: false, at: .seconds(seconds))
    }

    @Test func `a guest that proves the PIN is accepted, and receives the host's proof`() throws {
        var verifier = try verifier()
        let nonce = verifier.nonce(at: .seconds(5))
        let verdict = check(&verifier, try proof(nonce), at: 6)
        let expected = PINKey(try PIN("4711"), room: room, host: host, rounds: 10).proof(
            by: .host, nonce: nonce, guest: guest.bytes)
        #expect(verdict == .right(hostProof: expected))
        #expect(try proof(nonce) != expected)
    }

    @Test func `a proof is valid only for one PIN, one guest and one host, and for a few minutes`() throws {
        var verifier = try verifier()
        let nonce = verifier.nonce(at: .seconds(5))
        #expect(check(&verifier, try proof(nonce, pin: "4712"), at: 5) == .wrong(attemptsLeft: 4))
        #expect(check(&verifier, try proof(nonce), guest: TestKey(2).fingerprint, at: 5) == .wrong(attemptsLeft: 3))
        #expect(check(&verifier, try proof(nonce, host: TestKey(3).fingerprint), at: 5) == .wrong(attemptsLeft: 2))
        #expect(check(&verifier, [], at: 5) == .wrong(attemptsLeft: 1))
        var later = try self.verifier()
        guard case .right = check(&later, try proof(nonce), at: 200) else { Issue.record("too old"); return }
        guard case .wrong = check(&later, try proof(nonce), at: 300) else { Issue.record("not too old"); return }
    }

    @Test func `five wrong PINs from one key or address block further attempts for ten minutes`() throws {
        var attempts = PINAttempts()
        for second in 0..<5 {
            #expect(attempts.wait(guest, address(1), isKnown: false, at: .seconds(Double(second))) == nil)
            #expect(attempts.failed(guest, address(1), at: .seconds(Double(second))) == 4 - second)
        }
        #expect(attempts.wait(guest, address(2), isKnown: true, at: .seconds(100)) == 500)
        #expect(attempts.wait(nil, address(1), isKnown: false, at: .seconds(100)) == 500)
        #expect(attempts.wait(TestKey(9).fingerprint, address(2), isKnown: false, at: .seconds(100)) == nil)
        #expect(attempts.wait(guest, address(1), isKnown: false, at: .seconds(600)) == nil)
        #expect(attempts.failed(guest, address(1), at: .seconds(600)) == 0)
    }

    @Test func `fifty wrong PINs block unknown guests, not known ones, and expire`() throws {
        var attempts = PINAttempts()
        for number in 0..<1_000 {
            _ = attempts.failed(TestKey(number).fingerprint, address(number), at: .seconds(Double(number) * 0.1))
        }
        #expect(attempts.count <= PINAttempts.capacity)
        let wait = try #require(attempts.wait(nil, address(2_000), isKnown: false, at: .seconds(100)))
        #expect(wait > 500 && wait <= 600)
        #expect(attempts.wait(TestKey(5_000).fingerprint, address(2_000), isKnown: true, at: .seconds(100)) == nil)
        #expect(attempts.wait(nil, address(2_000), isKnown: false, at: .seconds(701)) == nil)
    }

    @Test func `a nonce is issued for two minutes, and proofs with it are accepted for two more`() throws {
        var verifier = try verifier()
        let nonce = verifier.nonce(at: .seconds(120))
        #expect(nonce.count == PINKey.nonceSize && verifier.nonce(at: .seconds(239.9)) == nonce)
        #expect(verifier.nonce(at: .seconds(240)) != nonce && verifier.nonce(at: .seconds(119.9)) != nonce)
        for second in [120, 239.9, 240, 359.9] {
            guard case .right = check(&verifier, try proof(nonce), at: second) else {
                Issue.record("too old at \(second) s"); continue
            }
        }
        #expect(check(&verifier, try proof(nonce), at: 360) == .wrong(attemptsLeft: 4))
    }

    @Test func `five wrong PINs of one key, or fifty in total, block attempts for ten minutes`() throws {
        var attempts = PINAttempts()
        func wait(_ key: KeyFingerprint?, _ number: Int, isKnown: Bool = false, _ second: Double) -> Double? {
            attempts.wait(key, address(number), isKnown: isKnown, at: .seconds(second))
        }
        for number in 0..<4 { _ = attempts.failed(guest, address(number), at: .seconds(Double(number))) }
        #expect(wait(guest, 100, 5) == nil)
        #expect(attempts.failed(guest, address(4), at: .seconds(4)) == 0)
        #expect(wait(guest, 100, 5) == 595 && wait(TestKey(2).fingerprint, 100, 5) == nil)
        for number in 5..<49 { _ = attempts.failed(nil, address(number), at: .seconds(5)) }
        #expect(wait(nil, 100, 6) == nil)
        _ = attempts.failed(nil, address(49), at: .seconds(6))
        #expect(wait(nil, 100, 7) == 593 && wait(nil, 100, isKnown: true, 7) == nil)
        #expect(wait(nil, 100, 599.9) != nil && wait(nil, 100, 600) == nil)
        #expect(attempts.count == 50)
        #expect(attempts.failed(nil, address(100), at: .seconds(605)) == 4 && attempts.count == 2)
    }
}
