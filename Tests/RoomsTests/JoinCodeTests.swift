// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct JoinCodeTests {
    private let key = TestKey(1).fingerprint

    private func anyCode(_ random: inout SeededRandom) -> (IPAddress, UInt16, KeyFingerprint, JoinCode)? {
        let key = KeyFingerprint(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })!
        let isV6 = Bool.random(using: &random)
        let address: IPAddress =
            isV6
            ? .v6(UInt128(random.next()) << 64 | UInt128(random.next()), scope: 0)
            : .v4(UInt32.random(in: 1..<0xE000_0000, using: &random))
        let port = Bool.random(using: &random) ? JoinCode.usualPort : .random(in: 1...65_535, using: &random)
        guard let code = try? JoinCode(address: address, port: port, key: key) else { return nil }
        return (address, port, key, code)
    }

    @Test func `a join code is read back from any variant of its spelling`() throws {
        var random = SeededRandom(seed: 1)
        var codes = 0
        for _ in 0..<2_000 {
            guard let (address, port, key, code) = anyCode(&random) else { continue }
            codes += 1
            var text = code.description
            if Bool.random(using: &random) { text = text.lowercased() }
            if Bool.random(using: &random) {
                text.replace("-", with: [" ", "", "\u{2011}", " - "].randomElement(using: &random)!)
            }
            if Bool.random(using: &random) { text.replace("0", with: "o") }
            if Bool.random(using: &random) {
                text.replace("1", with: ["l", "I", "L", "i"].randomElement(using: &random)!)
            }
            let read = try JoinCode(text)
            #expect(read == code && read.address == address && read.port == port)
            #expect(read.matches(key) && read.description == code.description)
        }
        #expect(codes > 1_900, "of IPv6 addresses one in 200 has none")
    }

    @Test func `a join code does not match a key that differs in any of its first 40 bits`() throws {
        for isV6 in [false, true] {
            for port: UInt16 in [JoinCode.usualPort, 5_000] {
                let address: IPAddress = isV6 ? .v6(0xFD << 120 | 7, scope: 0) : address(7)
                let code = try JoinCode(address: address, port: port, key: key)
                for bit in 0..<40 {
                    var bytes = key.bytes
                    bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                    #expect(!code.matches(KeyFingerprint(bytes: bytes)!))
                }
            }
        }
    }

    @Test func `a typical join code has four groups of four characters`() throws {
        let code = try JoinCode(address: address(7), key: key)
        #expect(code.description.split(separator: "-").map(\.count) == [4, 4, 4, 4])
        #expect(try JoinCode(address: address(7), port: 1, key: key).description.count { $0 != "-" } == 20)
        #expect(try JoinCode(address: .v6(0xFD << 120, scope: 0), key: key).description.count { $0 != "-" } == 36)
        #expect(
            try JoinCode(address: .v6(0xFD << 120, scope: 0), port: 1, key: key).description.count { $0 != "-" } == 39)
    }

    @Test func `each wrong character and each swap of two neighbours is detected`() throws {
        var random = SeededRandom(seed: 2)
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        var codes = 0
        for _ in 0..<40 {
            guard let (_, _, _, code) = anyCode(&random) else { continue }
            codes += 1
            let right = code.description.filter { $0 != "-" }.map { $0 }
            for place in right.indices {
                for other in alphabet where other != right[place] {
                    var wrong = right
                    wrong[place] = other
                    #expect(throws: JoinCodeError.self) { try JoinCode(String(wrong)) }
                }
                if place > 0, right[place] != right[place - 1] {
                    var wrong = right
                    wrong.swapAt(place, place - 1)
                    #expect(throws: JoinCodeError.wrongCheck) { try JoinCode(String(wrong)) }
                }
            }
        }
        #expect(codes > 30, "of IPv6 addresses one in 200 has none")
    }

    @Test func `an invalid join code is reported with the kind of error and its position`() throws {
        let code = try JoinCode(address: address(7), key: key).description
        var wrong = Array(code)
        wrong[7] = "U"
        #expect(throws: JoinCodeError.wrongCharacter("U", position: 7)) { try JoinCode(String(wrong)) }
        #expect(throws: JoinCodeError.wrongCharacter("é", position: 1)) { try JoinCode("é") }
        #expect(throws: JoinCodeError.wrongLength(0)) { try JoinCode(" - ") }
        #expect(throws: JoinCodeError.wrongLength(15)) { try JoinCode(String(code.dropLast())) }
        #expect(throws: JoinCodeError.wrongLength(300)) { try JoinCode(String(repeating: "A", count: 300)) }
        for error: JoinCodeError in [
            .wrongCharacter("\u{1B}", position: 3), .wrongLength(2), .wrongCheck, .otherVersion, .notACode,
            .linkLocal(address(1)), .notAHost(.any),
        ] {
            #expect(!error.description.contains("\u{1B}") && !error.description.contains("\n"))
        }
    }

    @Test(arguments: ["fe80::1", "fe80::1%1", "febf::1"])
    func `a link-local address is refused in a join code`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(throws: JoinCodeError.linkLocal(address)) { try JoinCode(address: address, key: key) }
    }

    @Test(arguments: ["0.0.0.0", "224.0.0.251", "255.255.255.255", "::", "ff02::fb"])
    func `a multicast, broadcast or unspecified address is refused in a join code`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(throws: JoinCodeError.notAHost(address)) { try JoinCode(address: address, key: key) }
        #expect(throws: JoinCodeError.notACode) { try JoinCode(address: .loopback, port: 0, key: key) }
    }

    @Test func `any text is either a valid join code or an error`() throws {
        var random = SeededRandom(seed: 3)
        var read = 0
        for _ in 0..<20_000 {
            guard let (_, _, _, code) = anyCode(&random) else { continue }
            let text = String(
                decoding: random.damaged(Array(code.description.utf8), pieces: ["-", " ", "O", "u", "0"]), as: UTF8.self
            )
            guard let damaged = try? JoinCode(text) else { continue }
            read += 1
            #expect(try JoinCode(damaged.description) == damaged)
        }
        #expect(read > 100)
    }
}
