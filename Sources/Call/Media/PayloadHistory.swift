// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The last payloads sent to a remote peer, by number, for repetition. It never grows. For the media thread.
struct PayloadHistory: ~Copyable {
    static let capacity = 128
    /// The maximum bytes of a stored payload; longer ones are not stored.
    static let payloadCapacity = 1_280
    /// The maximum retransmissions of one payload on request.
    static let maximumRetransmissions = 2

    private struct Entry {
        var number: UInt16 = 0
        var byteCount = 0  // 0: free
        var position = 0
        var retransmissionCount = 0
        var lastRetransmission: HostTime?
    }
    private var entries = InlineArray<128, Entry>(repeating: Entry())
    private let bytes: UnsafeMutableRawPointer

    init() { bytes = .allocate(byteCount: Self.capacity * Self.payloadCapacity, alignment: 16) }

    deinit { bytes.deallocate() }

    mutating func store(_ payload: UnsafeRawBufferPointer, number: UInt16, position: Int) {
        let slot = Int(number) % Self.capacity
        guard payload.count <= Self.payloadCapacity, let from = payload.baseAddress else {
            return entries[slot].byteCount = 0
        }
        entries[slot] = Entry(number: number, byteCount: payload.count, position: position)
        (bytes + slot * Self.payloadCapacity).copyMemory(from: from, byteCount: payload.count)
    }

    /// Returns a stored payload and the position of its first frame; valid until the next payload is stored.
    func payload(_ number: UInt16) -> (bytes: UnsafeRawBufferPointer, position: Int)? {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return nil }
        return (
            UnsafeRawBufferPointer(start: bytes + slot * Self.payloadCapacity, count: entries[slot].byteCount),
            entries[slot].position
        )
    }

    /// Returns true if a requested payload may be retransmitted: it is stored, was retransmitted at most once, and not just now.
    /// If true, counts a retransmission.
    /// - Parameter pause: the minimum seconds since the payload's last retransmission.
    mutating func answer(_ number: UInt16, at now: HostTime, pause: Double) -> Bool {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return false }
        guard entries[slot].retransmissionCount < Self.maximumRetransmissions else { return false }
        if let last = entries[slot].lastRetransmission, now.seconds(since: last) < pause { return false }
        entries[slot].retransmissionCount += 1
        entries[slot].lastRetransmission = now
        return true
    }

    /// Removes all payloads.
    mutating func removeAll() {
        for slot in 0..<Self.capacity { entries[slot].byteCount = 0 }
    }
}
