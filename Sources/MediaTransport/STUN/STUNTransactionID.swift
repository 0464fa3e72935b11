// SPDX-License-Identifier: Apache-2.0

/// The id that a request and its answer share: 96 unpredictable bits (RFC 8489 §5).
@frozen
package struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
    /// The first four bytes of the id.
    package var high: UInt32
    /// The last eight bytes of the id.
    package var low: UInt64

    /// Creates an id from its bits.
    package init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns a new random id.
    package static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
        STUNTransactionID(high: generator.next(), low: generator.next())
    }
}
