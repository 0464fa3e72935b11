// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The last payloads sent to a remote peer, by number, for repetition. It never grows. For the media thread.
struct PayloadHistory: ~Copyable {
    /// The number of payloads.
    static let capacity = 128
    /// The maximum bytes of a stored payload; longer ones are not stored.
    static let payloadCapacity = 1_280
    /// The maximum requested retransmissions of a payload.
    static let maximumRetransmissions = 2

    private struct Entry {
        var number: UInt16 = 0
        var byteCount = 0  // 0: free
        var position = 0
        var answers = 0
        var answered: HostTime?
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

    /// Returns a stored payload and its first frame; valid until the next is stored.
    func payload(_ number: UInt16) -> (bytes: UnsafeRawBufferPointer, position: Int)? {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return nil }
        return (
            UnsafeRawBufferPointer(start: bytes + slot * Self.payloadCapacity, count: entries[slot].byteCount),
            entries[slot].position
        )
    }

    /// Returns true if a requested payload may be retransmitted: it is stored, was retransmitted at most once, and not just now.
    /// Counts it as sent.
    /// - Parameter pause: the minimum seconds since it was last retransmitted.
    mutating func answer(_ number: UInt16, at now: HostTime, pause: Double) -> Bool {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return false }
        guard entries[slot].answers < Self.maximumRetransmissions else { return false }
        if let last = entries[slot].answered, now.seconds(since: last) < pause { return false }
        entries[slot].answers += 1
        entries[slot].answered = now
        return true
    }

    /// Removes all payloads.
    mutating func removeAll() {
        for slot in 0..<Self.capacity { entries[slot].byteCount = 0 }
    }
}
