// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import EarshotMediaTransport

@Suite struct FingerprintTests {
    private let bytes32 = (0..<32).map { UInt8($0 * 8 + 1) }

    @Test func `a key fingerprint is written as 64 digits, and shown to people as four groups`() throws {
        let fingerprint = try #require(KeyFingerprint(bytes: bytes32))
        #expect(fingerprint.hex == "010911192129313941495159616971798189" + "9199a1a9b1b9c1c9d1d9e1e9f1f9")
        #expect("\(fingerprint)" == "0109 1119 2129 3139")
        #expect(KeyFingerprint(hex: fingerprint.hex.uppercased()) == fingerprint)
        let json = try JSONEncoder().encode([fingerprint])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(fingerprint.hex)\"]")
        #expect(try JSONDecoder().decode([KeyFingerprint].self, from: json) == [fingerprint])
    }

    @Test(arguments: [
        "", "00", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
        String(repeating: "0", count: 63) + "g", String(repeating: "é", count: 32),
        String(repeating: "0", count: 64) + "\n", "0x" + String(repeating: "0", count: 62),
    ])
    func `text that is not 64 digits is not a fingerprint`(text: String) throws {
        #expect(KeyFingerprint(hex: text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([KeyFingerprint].self, from: JSONEncoder().encode([text]))
        }
        #expect(KeyFingerprint(bytes: Array(text.utf8.prefix(31))) == nil)
    }

    @Test func `a certificate fingerprint is written and parsed according to RFC 8122`() throws {
        let fingerprint = try #require(CertificateFingerprint(bytes: bytes32))
        let text = fingerprint.attribute
        #expect(text.hasPrefix("sha-256 01:09:11:19:21") && text.hasSuffix(":F1:F9") && text.count == 8 + 95)
        #expect(CertificateFingerprint(attribute: text) == fingerprint)
        #expect(CertificateFingerprint(attribute: text.lowercased()) == fingerprint)
        #expect(CertificateFingerprint(attribute: text.uppercased()) == fingerprint)
        let wrong = [
            "", "sha-256", "sha-1 \(text.dropFirst(8))", text + ":00", String(text.dropLast(3)), text + " x",
            text.replacing(":", with: "-"), text.replacing(":", with: ""), "sha-256  ",
        ]
        for text in wrong { #expect(CertificateFingerprint(attribute: text) == nil, "\(text)") }
    }
}
