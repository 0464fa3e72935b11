// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The last payloads that were sent to one remote peer, by the numbers they went under: what is repeated is taken from here.
/// It never grows. For the media thread.
struct PayloadHistory: ~Copyable {
    /// Payloads kept.
    static let capacity = 128
    /// Bytes of a payload that is kept; longer ones are not.
    static let payloadCapacity = 1_280
    /// Requested retransmissions of one payload at most.
    static let mostAnswers = 2

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

    /// A payload that is still known, and its first frame; valid until the next is stored.
    func payload(_ number: UInt16) -> (bytes: UnsafeRawBufferPointer, position: Int)? {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return nil }
        return (
            UnsafeRawBufferPointer(start: bytes + slot * Self.payloadCapacity, count: entries[slot].byteCount),
            entries[slot].position
        )
    }

    /// Returns true if a payload that was asked for may be sent once more: it is known, was not sent for that twice, and not just
    /// now. Counts as sent if it may.
    /// - Parameter pause: seconds that must have passed since it was sent for that reason.
    mutating func answer(_ number: UInt16, at now: HostTime, pause: Double) -> Bool {
        let slot = Int(number) % Self.capacity
        guard entries[slot].byteCount > 0, entries[slot].number == number else { return false }
        guard entries[slot].answers < Self.mostAnswers else { return false }
        if let last = entries[slot].answered, now.seconds(since: last) < pause { return false }
        entries[slot].answers += 1
        entries[slot].answered = now
        return true
    }

    /// Forgets everything that was sent before.
    mutating func removeAll() {
        for slot in 0..<Self.capacity { entries[slot].byteCount = 0 }
    }
}
