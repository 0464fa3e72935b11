// SPDX-License-Identifier: Apache-2.0

/// Records which of a source's last 2,048 packets arrived, to report the pattern of losses.
struct LossRecord: Sendable {
    /// The number of packets.
    static let capacity = 2_048
    /// The newest packets that are not reported yet: earlier ones may have been overtaken.
    static let unreportedCount = 4

    private var words = InlineArray<32, UInt64>(repeating: 0)
    private var highest: Int
    /// The first packet that was not reported.
    private var next: Int

    /// - Parameter first: the extended number of the source's first packet.
    init(first: Int) {
        highest = first
        next = first
        set(first, true)
    }

    /// Records a packet that arrived.
    mutating func mark(_ sequence: Int) {
        if sequence > highest {
            for missing in max(highest + 1, sequence - Self.capacity + 1)..<sequence { set(missing, false) }
            highest = sequence
            next = max(next, highest - Self.capacity + 1)
        }
        if sequence > highest - Self.capacity { set(sequence, true) }
    }

    /// The numbers for the next report; may be empty.
    var unreported: Range<Int> { next..<max(next, highest - Self.unreportedCount + 1) }

    /// Returns true if a packet of the last ``capacity`` has arrived.
    func has(_ sequence: Int) -> Bool {
        let bit = sequence & (Self.capacity - 1)
        return words[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    }

    /// Marks everything before this number as reported.
    mutating func report(upTo end: Int) { next = max(next, end) }

    private mutating func set(_ sequence: Int, _ isReceived: Bool) {
        let bit = sequence & (Self.capacity - 1)
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if isReceived { words[bit >> 6] |= mask } else { words[bit >> 6] &= ~mask }
    }
}
