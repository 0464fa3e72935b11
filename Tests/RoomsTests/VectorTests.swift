// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// The vectors of docs/wire.md, which another program computed.
@Suite struct VectorTests {
    private let host = KeyFingerprint(bytes: Digest.sha256(Array("host key".utf8)))!
    private let guest = KeyFingerprint(bytes: Digest.sha256(Array("guest key".utf8)))!
    private let room = RoomID("008J4CT4ANK7F24SNAXWSQFEZW")!

    /// Returns the lines of the document, with single spaces between words.
    private func document() throws -> Set<String> {
        let text = try TestSupport.document("wire.md")
        return Set(text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") })
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func `identities and join codes match the documentation`() throws {
        let document = try document()
        #expect(room.bytes == (0..<16).map { $0 * 17 } && document.contains("room \(room)"))
        #expect(
            document.contains("host's fingerprint \(host.hex)") && document.contains("guest's fingerprint \(guest.hex)")
        )
        for text in ["192.168.1.7", "fd00::7"] {
            let address = try #require(IPAddress(text))
            for port: UInt16 in [47_400, 5_000] {
                let code = try JoinCode(address: address, port: port, key: host)
                let place = port == 47_400 ? text : "\(SocketAddress(address, port: port))"
                #expect(document.contains("\(place) \(code)"))
                #expect(try JoinCode(code.description) == code)
            }
        }
    }

    @Test func `PIN proofs match the documentation`() throws {
        let document = try document()
        let key = PINKey(try PIN("4711"), room: room, host: host)
        let nonce = (0..<16).map { UInt8($0) }
        #expect(document.contains("guest's proof \(hex(key.proof(by: .guest, nonce: nonce, guest: guest.bytes)))"))
        #expect(document.contains("host's proof \(hex(key.proof(by: .host, nonce: nonce, guest: guest.bytes)))"))
    }

    @Test func `the signed content matches the documentation`() throws {
        let content = SignedContent(
            room: room, epoch: Epoch(2)!, from: guest, to: host, offer: OfferID(from: MemberID(3)!, number: 5),
            kind: .offer,
            sdp: "v=0\r\n")
        #expect(content.bytes.count == 196)
        #expect(try document().contains(hex(Digest.sha256(content.bytes))))
    }

    @Test func `every error in the code is documented`() throws {
        let text = try document().joined(separator: "\n")
        for error in WireTests.errors {
            if case .other = error { continue }
            #expect(text.contains("| \(error.status) | ") && text.contains("`\(error.code)`"), "\(error.code)")
        }
    }
}
