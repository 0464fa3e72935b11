// SPDX-License-Identifier: Apache-2.0

/// The number that an answer shares with its request: 96 bits, not to be guessed (RFC 8489 §5).
@frozen
package struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
    /// The first four bytes.
    package var high: UInt32
    /// The other eight.
    package var low: UInt64

    /// An id of these bits.
    package init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new one.
    package static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
        STUNTransactionID(high: generator.next(), low: generator.next())
    }
}
