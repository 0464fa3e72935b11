// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The packets that wait for their time, by sequence number. For the render thread alone.
struct JitterBuffer: ~Copyable {
    /// The number of slots; sequence numbers this far apart share a slot.
    let capacity: Int
    /// The greatest sequence number stored since the last ``removeAll()``.
    private(set) var highest = -1

    private let headers: UnsafeMutablePointer<PacketHeader>  // a sequence number of -1 means a free slot
    private let payloads: UnsafeMutableRawPointer
    private let payloadCapacity: Int

    init(capacity: Int, payloadCapacity: Int) {
        self.capacity = capacity
        self.payloadCapacity = payloadCapacity
        headers = .allocate(capacity: capacity)
        headers.initialize(
            repeating: PacketHeader(
                sequence: -1, position: 0, frameCount: 0, byteCount: 0, arrival: HostTime(nanoseconds: 0)),
            count: capacity)
        payloads = .allocate(byteCount: capacity * payloadCapacity, alignment: 16)
        payloads.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * payloadCapacity)
    }

    deinit {
        headers.deallocate()
        payloads.deallocate()
    }

    /// Copies a packet into its slot: the only copy between the queue and the decoder.
    @_noLocks
    mutating func insert(_ header: PacketHeader, payload: UnsafeMutableRawPointer) {
        let slot = header.sequence % capacity
        headers[slot] = header
        earshot_copy(payloads + slot &* payloadCapacity, payload, header.byteCount)
        highest = max(highest, header.sequence)
    }

    /// Returns the packet of a sequence number; nil if it has not arrived.
    @_noLocks
    func header(of sequence: Int) -> PacketHeader? {
        let header = headers[sequence % capacity]
        return header.sequence == sequence ? header : nil
    }

    @_noLocks
    func payload(of sequence: Int) -> UnsafeMutableRawPointer { payloads + (sequence % capacity) &* payloadCapacity }

    /// Returns the first sequence number from `sequence` on whose packet has arrived; nil if there is none.
    @_noLocks
    func first(from sequence: Int) -> Int? {
        var s = sequence
        while s <= highest {
            if headers[s % capacity].sequence == s { return s }
            s &+= 1
        }
        return nil
    }

    @_noLocks
    mutating func removeAll() {
        for slot in 0..<capacity { headers[slot].sequence = -1 }
        highest = -1
    }
}
