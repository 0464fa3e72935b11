// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The 32 bytes of a SHA-256 (FIPS 180-4), for fingerprints of keys and certificates and for the identity of a file.
public struct SHA256Digest: Hashable, Sendable {
    /// The number of bytes in a digest.
    public static let size = 32

    /// The digest's 32 bytes.
    public let bytes: [UInt8]

    /// Computes the digest of these bytes.
    package init(of input: [UInt8]) {
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
            _ = unsafe SHA256(input, input.count, buffer.baseAddress)
            count = Self.size
        }
    }

    /// Creates a digest that was computed elsewhere; nil unless it has 32 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits in either case; nil for anything else.
    package init?(hex: String) { self.init(hex: hex, separator: nil) }

    /// The digest as 64 hexadecimal digits, lower case.
    public var hex: String { hex() }

    /// Reads 64 hexadecimal digits in either case; nil for anything else.
    /// - Parameter separator: the character between the digits of two bytes; nil if there is none.
    init?(hex text: some StringProtocol, separator: UInt8?) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while bytes.count < Self.size {
            if let separator, !bytes.isEmpty {
                guard rest.popFirst() == separator else { return nil }
            }
            guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard rest.isEmpty else { return nil }
        self.bytes = bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the digest as 64 hexadecimal digits, with a separator between the digits of two bytes.
    func hex(uppercase: Bool = false, separator: String = "") -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: uppercase) }.joined(separator: separator)
    }
}
