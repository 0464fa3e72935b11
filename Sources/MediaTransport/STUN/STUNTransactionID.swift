/// What an answer and its request have in common: 96 bits, not to be guessed (RFC 8489 §5).
@frozen
public struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
    /// The first four bytes.
    public var high: UInt32
    /// The other eight.
    public var low: UInt64

    /// An id of these bits.
    public init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new one.
    public static func random(using generator: inout some RandomNumberGenerator) -> STUNTransactionID {
        STUNTransactionID(high: generator.next(), low: generator.next())
    }
}
