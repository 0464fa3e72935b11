import Foundation
import MediaTransport
import Testing

@Suite struct KeyFingerprintTests {
    private let bytes = (0..<32).map { UInt8($0 * 7) }

    @Test func `digits there and back, in either case`() throws {
        let fingerprint = try #require(KeyFingerprint(bytes: bytes))
        #expect(fingerprint.hex.count == 64 && fingerprint.hex == fingerprint.hex.lowercased())
        #expect(KeyFingerprint(hex: fingerprint.hex) == fingerprint)
        #expect(KeyFingerprint(hex: fingerprint.hex.uppercased()) == fingerprint)
        #expect(fingerprint.description == "0007 0e15 1c23 2a31")
        let coded = try JSONEncoder().encode([fingerprint])
        #expect(String(decoding: coded, as: UTF8.self) == "[\"\(fingerprint.hex)\"]")
        #expect(try JSONDecoder().decode([KeyFingerprint].self, from: coded) == [fingerprint])
    }

    @Test(arguments: [
        "", "00", String(repeating: "0", count: 63), String(repeating: "g", count: 64),
        "0x" + String(repeating: "0", count: 62),
    ])
    func `anything else is none`(text: String) {
        #expect(KeyFingerprint(hex: text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([KeyFingerprint].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test func `other sizes are none`() {
        #expect(KeyFingerprint(bytes: Array(bytes.dropLast())) == nil && KeyFingerprint(bytes: bytes + [0]) == nil)
    }
}
