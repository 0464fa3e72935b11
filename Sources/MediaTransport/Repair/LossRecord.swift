// SPDX-License-Identifier: Apache-2.0

/// Records which of a source's last 2,048 packets arrived, to report the pattern of losses.
struct LossRecord: Sendable {
    /// The number of packets that the record covers.
    static let capacity = 2_048
    /// The newest packets that are not reported yet, because packets that they overtook may still arrive.
    static let unreportedCount = 4

    private var words = InlineArray<32, UInt64>(repeating: 0)
    private var highest: Int
    /// The extended number of the first packet that was not reported.
    private var firstUnreported: Int

    /// - Parameter first: the extended number of the source's first packet.
    init(first: Int) {
        highest = first
        firstUnreported = first
        set(first, true)
    }

    /// Records the arrival of the packet with this extended number.
    mutating func mark(_ sequence: Int) {
        if sequence > highest {
            for missing in max(highest + 1, sequence - Self.capacity + 1)..<sequence { set(missing, false) }
            highest = sequence
            firstUnreported = max(firstUnreported, highest - Self.capacity + 1)
        }
        if sequence > highest - Self.capacity { set(sequence, true) }
    }

    /// The extended numbers of the packets for the next report; may be empty.
    var unreported: Range<Int> { firstUnreported..<max(firstUnreported, highest - Self.unreportedCount + 1) }

    /// Returns true if the packet with this number, one of the last ``capacity``, has arrived.
    func has(_ sequence: Int) -> Bool {
        let bit = sequence & (Self.capacity - 1)
        return words[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    }

    /// Marks all packets before this number as reported.
    mutating func report(upTo end: Int) { firstUnreported = max(firstUnreported, end) }

    private mutating func set(_ sequence: Int, _ isReceived: Bool) {
        let bit = sequence & (Self.capacity - 1)
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if isReceived { words[bit >> 6] |= mask } else { words[bit >> 6] &= ~mask }
    }
}
