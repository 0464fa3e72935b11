// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import TestSupport
import Testing

@testable import EarshotMediaTransport

@Suite struct STUNMessageTests {
    private let key = Array(STUNVectors.password.utf8)
    private let id = STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

    // MARK: RFC 5769

    @Test func `the sample request is parsed`() throws {
        let contents = try STUNContents(STUNVectors.request)
        #expect(contents.messageClass == .request && contents.method == STUNMessage.binding && contents.id == id)
        #expect(contents.software == "STUN test client" && contents.username == "evtj:h6vY")
        #expect(contents.priority == 0x6E00_01FF && contents.controlled == 0x932F_F9B1_5126_3B36)
        #expect(contents.hasFingerprint && contents.controlling == nil && !contents.usesCandidate)
        #expect(isAuthentic(STUNVectors.request, key: key))
    }

    @Test func `the sample responses are parsed`() throws {
        let v4 = try STUNContents(STUNVectors.responseV4)
        #expect(v4.messageClass == .success && v4.id == id && v4.software == "test vector" && v4.hasFingerprint)
        #expect(v4.xorMapped == SocketAddress(IPAddress("192.0.2.1")!, port: 32_853))
        #expect(isAuthentic(STUNVectors.responseV4, key: key))
        let v6 = try STUNContents(STUNVectors.responseV6)
        #expect(v6.xorMapped == SocketAddress(IPAddress("2001:db8:1234:5678:11:2233:4455:6677")!, port: 32_853))
        #expect(isAuthentic(STUNVectors.responseV6, key: key))
    }

    @Test func `the sample request with long-term credentials is authentic`() throws {
        let contents = try STUNContents(STUNVectors.longTerm)
        let name = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"
        #expect(contents.username == name && !contents.hasFingerprint)
        var key = [UInt8](repeating: 0, count: 16)
        let text = Array("\(name):example.org:TheMatrIX".utf8)
        #expect(EVP_Digest(text, text.count, &key, nil, EVP_md5(), nil) == 1)
        #expect(isAuthentic(STUNVectors.longTerm, key: key))
        for bit in 0..<STUNVectors.longTerm.count * 8 {
            var bytes = STUNVectors.longTerm
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!isAuthentic(bytes, key: key), "bit \(bit)")
        }
        key[0] ^= 1
        #expect(!isAuthentic(STUNVectors.longTerm, key: key))
    }

    @Test func `the sample messages are reproduced byte for byte`() {
        func seal(_ writer: inout STUNWriter) { writer.seal(STUNVectors.password) }
        let request = stun(.request, id: id) { writer in
            writer.padding = 0x20
            writer.addSoftware("STUN test client")
            writer.addPriority(0x6E00_01FF)
            writer.addControlled(tieBreaker: 0x932F_F9B1_5126_3B36)
            writer.addUsername("evtj:h6vY")
            seal(&writer)
        }
        #expect(request == STUNVectors.request)
        for (address, vector) in [
            ("192.0.2.1", STUNVectors.responseV4), ("2001:db8:1234:5678:11:2233:4455:6677", STUNVectors.responseV6),
        ] {
            let response = stun(.success, id: id) { writer in
                writer.padding = 0x20
                writer.addSoftware("test vector")
                writer.addXORMappedAddress(SocketAddress(IPAddress(address)!, port: 32_853))
                seal(&writer)
            }
            #expect(response == vector)
        }
    }

    // MARK: Round trips

    @Test(arguments: STUNMessage.Class.allCases, [0x001, 0x003, 0x00F, 0x010, 0x07F, 0x080, 0xFFF] as [UInt16])
    func `class and method survive the interleaving of their bits`(messageClass: STUNMessage.Class, method: UInt16)
        throws
    {
        let contents = try STUNContents(stun(messageClass, method: method) { _ in })
        #expect(contents.messageClass == messageClass && contents.method == method)
    }

    @Test func `every attribute survives writing and parsing`() throws {
        let (v4, v6) = (
            SocketAddress(IPAddress("10.1.2.3")!, port: 1), SocketAddress(IPAddress("fe80::1")!, port: 65_535)
        )
        for address in [v4, v6] {
            let contents = try STUNContents(
                stun(.error) { writer in
                    writer.addUsername("a:b")
                    writer.addSoftware("12345")
                    writer.addPriority(7)
                    writer.addUseCandidate()
                    writer.addControlling(tieBreaker: .max)
                    writer.addXORMappedAddress(address)
                    writer.addErrorCode(487, reason: "Role Conflict")
                    writer.seal("p")
                })
            #expect(contents.username == "a:b" && contents.software == "12345" && contents.priority == 7)
            #expect(contents.usesCandidate && contents.controlling == .max && contents.controlled == nil)
            #expect(contents.xorMapped == address)
            #expect(contents.errorCode == 487 && contents.errorReason == "Role Conflict")
        }
    }

    @Test func `unknown mandatory attributes are listed in the error response`() throws {
        let request = stun(.request) { writer in
            for type in [0x0003, 0x0019, 0x8003, 0xC057] as [UInt16] {
                [UInt8](arrayLiteral: 1).withUnsafeBytes { writer.add(type, $0.bytes) }
            }
        }
        let error = try request.withUnsafeBytes { bytes in
            let request = try STUNMessage(parsing: bytes.bytes)
            return stun(.error) { writer in
                writer.addErrorCode(420, reason: "Unknown Attribute")
                writer.addUnknownAttributes(of: request)
                writer.seal("p")
            }
        }
        let contents = try STUNContents(error)
        #expect(contents.errorCode == 420 && contents.unknown == [0x0003, 0x0019] && contents.hasFingerprint)
        #expect(isAuthentic(error, key: Array("p".utf8)))
    }

    // MARK: Bad input

    @Test func `the first of two attributes of the same type counts`() throws {
        let contents = try STUNContents(
            stun(.request) { writer in
                writer.addPriority(1)
                writer.addPriority(2)
            })
        #expect(contents.priority == 1)
    }

    @Test func `attributes after the message integrity are ignored`() throws {
        let bytes = stun(.request) { writer in
            writer.addUsername("a:b")
            Array("p".utf8).withUnsafeBytes { writer.addMessageIntegrity(key: $0.bytes) }
            writer.addUseCandidate()
            writer.addPriority(9)
            writer.addFingerprint()
        }
        let contents = try STUNContents(bytes)
        #expect(contents.username == "a:b" && !contents.usesCandidate && contents.priority == nil)
        #expect(isAuthentic(bytes, key: Array("p".utf8)))
    }

    @Test func `attributes of the wrong length are ignored`() throws {
        func value(_ type: UInt16, _ bytes: [UInt8]) throws -> STUNContents {
            try STUNContents(stun(.error) { writer in bytes.withUnsafeBytes { writer.add(type, $0.bytes) } })
        }
        #expect(try value(STUNAttribute.priority, [1, 2, 3]).priority == nil)
        #expect(try value(STUNAttribute.iceControlled, [1, 2, 3, 4]).controlled == nil)
        #expect(try value(STUNAttribute.xorMappedAddress, [0, 1, 0, 1, 1, 2, 3]).xorMapped == nil)
        #expect(try value(STUNAttribute.xorMappedAddress, [0, 2, 0, 1, 1, 2, 3, 4]).xorMapped == nil)
        #expect(try value(STUNAttribute.xorMappedAddress, [0, 3, 0, 1, 1, 2, 3, 4]).xorMapped == nil)
        #expect(try value(STUNAttribute.errorCode, [0, 0, 4]).errorCode == nil)
        #expect(try value(STUNAttribute.errorCode, [0, 0, 2, 0]).errorCode == nil)
        #expect(try value(STUNAttribute.errorCode, [0, 0, 4, 100]).errorCode == nil)
        #expect(try value(STUNAttribute.unknownAttributes, [0, 1, 2]).unknown == nil)
    }

    @Test func `malformed messages yield distinct errors`() {
        func error(_ bytes: [UInt8]) -> STUNError? {
            #expect(throws: STUNError.self) { try STUNContents(bytes) }
        }
        let base = STUNVectors.request
        func changed(_ at: Int, _ byte: UInt8) -> [UInt8] {
            var bytes = base
            bytes[at] = byte
            return bytes
        }
        #expect(error([]) == .tooShort(0) && error(Array(base.prefix(19))) == .tooShort(19))
        #expect(error(base + [UInt8](repeating: 0, count: 1_393)) == .tooLarge(1_501))
        #expect(error(changed(0, 0x80)) == .notSTUN && error(changed(4, 0)) == .notSTUN)
        #expect(error(Array(base.dropLast(4))) == .wrongLength(announced: 88, present: 84))
        #expect(error(changed(3, 0x57)) == .wrongLength(announced: 87, present: 88))
        #expect(error(changed(23, 0xFF)) == .attributeOverrun(0x8022))
        #expect(error(changed(107, 0)) == .wrongFingerprint && error(changed(30, 0)) == .wrongFingerprint)
        #expect(error(changed(103, 5)) == .attributeOverrun(0x8028))
        #expect(error(changed(103, 3)) == .badAttribute(0x8028) && error(changed(79, 19)) == .badAttribute(8))
        let early = stun(.request) { writer in
            writer.addFingerprint()
            writer.addPriority(1)
        }
        #expect(error(early) == .misplacedFingerprint)
        for error in [
            STUNError.tooShort(1), .tooLarge(9_999), .notSTUN, .wrongLength(announced: 1, present: 2),
            .attributeOverrun(1), .badAttribute(1), .misplacedFingerprint, .wrongFingerprint,
        ] { #expect(error.description.contains("STUN")) }
    }

    @Test func `a flipped bit invalidates the message, its integrity or its fingerprint`() {
        for vector in [STUNVectors.request, STUNVectors.responseV4, STUNVectors.responseV6] {
            for bit in 0..<vector.count * 8 {
                var bytes = vector
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                let isWhole = (try? STUNContents(bytes))?.hasFingerprint ?? false
                #expect(!isWhole || !isAuthentic(bytes, key: key), "bit \(bit)")
            }
        }
    }

    @Test func `a truncated message is rejected`() {
        for count in STUNVectors.request.indices {
            #expect(throws: STUNError.self) { try STUNContents(Array(STUNVectors.request.prefix(count))) }
        }
    }

    @Test func `random bytes are parsed as a message or rejected with an error`() throws {
        var random = SeededRandom(seed: 1)
        let bases = [STUNVectors.request, STUNVectors.responseV4, STUNVectors.responseV6, STUNVectors.longTerm]
        var read = 0
        for n in 0..<100_000 {
            var bytes = mutated(bases[n % bases.count], &random)
            if bytes.count >= 20, Bool.random(using: &random) {  // lengths that fit reach further
                bytes = Array(bytes.prefix(bytes.count & ~3))
                bytes.replaceSubrange(2..<4, with: [UInt8((bytes.count - 20) >> 8), UInt8((bytes.count - 20) & 255)])
            }
            _ = isAuthentic(bytes, key: key)
            guard let contents = try? STUNContents(bytes) else { continue }
            read += 1
            if let code = contents.errorCode { #expect((300..<700).contains(code)) }
            #expect(contents.unknown?.count ?? 0 <= bytes.count / 2)
        }
        #expect(read > 1_000)
    }

    @Test func `STUN is distinguished from DTLS, RTP and RTCP by its first bytes`() {
        func isPlausible(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { STUNMessage.isPlausible($0.bytes) } }
        #expect(isPlausible(STUNVectors.request) && isPlausible(STUNVectors.responseV6))
        for first in [20, 63, 64, 127, 128, 191, 200, 255] as [UInt8] {
            #expect(!isPlausible([first] + STUNVectors.request.dropFirst()))
        }
        #expect(!isPlausible([]) && !isPlausible(Array(STUNVectors.request.prefix(19))))
    }

    @Test func `the CRC-32 matches the check value of ITU V42`() {
        #expect(Array("123456789".utf8).withUnsafeBytes { CRC32.of($0.bytes) } == 0xCBF4_3926)
        #expect([UInt8]().withUnsafeBytes { CRC32.of($0.bytes) } == 0)
    }

    @Test func `the HMAC-SHA1 code matches the vectors of RFC 2202`() {
        func code(_ key: [UInt8], _ text: String) -> String {
            let code = HMACSHA1.code(of: Array(text.utf8).span.bytes, key: key.span.bytes)
            return code.indices.map { String(code[$0] >> 4, radix: 16) + String(code[$0] & 15, radix: 16) }.joined()
        }
        #expect(code([UInt8](repeating: 0x0B, count: 20), "Hi There") == "b617318655057264e28bc0b6fb378c8ef146be00")
        #expect(
            code(Array("Jefe".utf8), "what do ya want for nothing?") == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(code([], "") == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
    }
}
