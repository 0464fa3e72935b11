// SPDX-License-Identifier: Apache-2.0

/// The number that a sender gives a message or a file: a random number of the sender's process, and an ascending one. The field
/// `Earshot-Number` has both as `EPOCH-NUMBER`; both are below 2⁵³.
struct TransferNumber: Hashable, Sendable, CustomStringConvertible {
    static let limit: UInt64 = 1 << 53

    /// The random number of the sender's process.
    let epoch: UInt64
    /// The ascending number of the message or file, from 1 in each process.
    let number: UInt64

    /// - Precondition: both numbers are below ``limit``.
    init(epoch: UInt64, number: UInt64) {
        precondition(epoch < Self.limit && number < Self.limit)
        self.epoch = epoch
        self.number = number
    }

    /// Reads `EPOCH-NUMBER`; nil if the text is anything else.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Self.number(parts[0]), let number = Self.number(parts[1]) else {
            return nil
        }
        self.init(epoch: epoch, number: number)
    }

    var description: String { "\(epoch)-\(number)" }

    /// Reads a number below ``limit`` in decimal digits.
    static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard (1...16).contains(digits.count) else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            number = number * 10 + UInt64(digit - 48)
        }
        return number < limit ? number : nil
    }
}
