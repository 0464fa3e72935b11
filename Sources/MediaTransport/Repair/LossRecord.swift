// SPDX-License-Identifier: Apache-2.0

/// Records which of a source's last 2,048 packets arrived, to report the pattern of losses.
struct LossRecord: Sendable {
    /// Packets known of.
    static let capacity = 2_048
    /// Newest packets that are not reported yet: those before them may have been overtaken.
    static let unreportedCount = 4

    private var words = InlineArray<32, UInt64>(repeating: 0)
    private var highest: Int
    /// The first that no report has told of.
    private var next: Int

    /// - Parameter first: the extended number of the source's first packet.
    init(first: Int) {
        highest = first
        next = first
        set(first, true)
    }

    /// Takes note of a packet that has come.
    mutating func mark(_ sequence: Int) {
        if sequence > highest {
            for missing in max(highest + 1, sequence - Self.capacity + 1)..<sequence { set(missing, false) }
            highest = sequence
            next = max(next, highest - Self.capacity + 1)
        }
        if sequence > highest - Self.capacity { set(sequence, true) }
    }

    /// The numbers that the next report is of; empty if there are none yet.
    var unreported: Range<Int> { next..<max(next, highest - Self.unreportedCount + 1) }

    /// Returns true if a packet has come; of the last ``capacity``.
    func has(_ sequence: Int) -> Bool {
        let bit = sequence & (Self.capacity - 1)
        return words[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    }

    /// Forgets everything before this number, which has been reported.
    mutating func report(upTo end: Int) { next = max(next, end) }

    private mutating func set(_ sequence: Int, _ isReceived: Bool) {
        let bit = sequence & (Self.capacity - 1)
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if isReceived { words[bit >> 6] |= mask } else { words[bit >> 6] &= ~mask }
    }
}
