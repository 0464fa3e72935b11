// SPDX-License-Identifier: Apache-2.0

/// The CRC-32 of ITU V.42, for FINGERPRINT (RFC 8489 §14.7) and ZIP archives.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0xEDB8_8320 }
    }

    package static func of(_ bytes: RawSpan) -> UInt32 {
        let table = table.span
        var sum = UInt32.max
        for i in 0..<bytes.byteCount { sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ bytes.byte(i))] }
        return ~sum
    }
}
