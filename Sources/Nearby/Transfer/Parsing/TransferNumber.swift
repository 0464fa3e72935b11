import Rooms

/// What a sender knows a message or a file by: a random number of its process, and one that counts up. `EPOCH-NUMBER`, both
/// below 2⁵³, in the field `Earshot-Number`.
struct TransferNumber: Hashable, Sendable, CustomStringConvertible {
    static let limit: UInt64 = 1 << 53

    /// Of the sender's process.
    let epoch: UInt64
    /// From 1.
    let number: UInt64

    /// Both below ``limit``.
    init(epoch: UInt64, number: UInt64) {
        precondition(epoch < Self.limit && number < Self.limit)
        self.epoch = epoch
        self.number = number
    }

    /// Reads `EPOCH-NUMBER`.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = wireNumber(parts[0]), let number = wireNumber(parts[1]) else { return nil }
        self.init(epoch: epoch, number: number)
    }

    var description: String { "\(epoch)-\(number)" }
}
