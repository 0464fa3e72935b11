// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A packet's description for the render callback, by the media thread.
@frozen
public struct PacketHeader: BitwiseCopyable, Sendable {
    /// Place of the packet in the order of sending, unwrapped; not negative.
    public var sequence: Int
    /// Place of its first frame on the stream's timeline, in frames at the stream's rate, unwrapped.
    public var position: Int
    /// Frames it lasts.
    public var frameCount: Int
    /// Bytes of payload.
    public var byteCount: Int
    /// Host time at which the media thread had it ready for playing.
    public var arrival: HostTime
    /// True if the sender has begun, or started anew: places before and after do not compare.
    public var startsStream: Bool
    /// True if another packet carried it, or it was retransmitted: its arrival says nothing of the network's delay.
    public var isRecovered: Bool
    /// True if it was recovered because this side requested it: playout does not wait for such packets.
    public var wasRequested: Bool

    /// True if it is in the fallback codec (``PlayoutConfiguration/fallback``).
    public var isFallbackCodec = false
    /// True if a link that was too slow is free again: the delays before it say nothing of those to come.
    public var endsCongestion = false

    /// A header of these values.
    @inlinable
    public init(
        sequence: Int, position: Int, frameCount: Int, byteCount: Int, arrival: HostTime, startsStream: Bool = false,
        isRecovered: Bool = false, wasRequested: Bool = false
    ) {
        self.sequence = sequence
        self.position = position
        self.frameCount = frameCount
        self.byteCount = byteCount
        self.arrival = arrival
        self.startsStream = startsStream
        self.isRecovered = isRecovered
        self.wasRequested = wasRequested
    }
}

/// Packets on their way from the media thread to the render callback: a wait-free queue of slots of one size.
///
/// A full queue drops and counts packets: the callback has stopped, and the queued ones are stale already.
///
/// It is the one intake of a stream: a second listener's queue (``second``) gets each packet too.
public final class PacketQueue: @unchecked Sendable {  // `second` is the media thread's; the rest is constant or atomic
    let storage: Storage
    private let rejected = Atomic<Int>(0)

    /// The queue of a second playout of the same packets, independent of the room in this one; its overruns affect only it. Nil for
    /// none. For the media thread.
    package var second: PacketQueue?

    /// - Parameters:
    ///   - capacity: packets, rounded up to a power of two.
    ///   - payloadCapacity: bytes a slot holds at most.
    public init(capacity: Int, payloadCapacity: Int) {
        storage = Storage(
            capacity: max(2, 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)), payloadCapacity: payloadCapacity
        )
    }

    deinit { storage.deallocate() }

    /// The depth of the jitter buffer at the last pull and its limit, in seconds; nil until the first packet was played. The media
    /// thread requests only packets that can still arrive in time.
    package var hold: (seconds: Double, limit: Double)? {
        let limit = Double(bitPattern: storage.holds[1].load(ordering: .relaxed))
        return limit > 0 ? (Double(bitPattern: storage.holds[0].load(ordering: .relaxed)), limit) : nil
    }

    /// The sender's clock against the device's as playout has found it: +10e-6 is a sender 10 ppm fast; 0 until it knows. For the
    /// media thread.
    package var drift: Double { Double(bitPattern: storage.holds[2].load(ordering: .relaxed)) }

    /// Seconds for which a packet that comes late is in time for somebody: ``hold``, or the second listener's if that is longer.
    /// For the media thread.
    package var longestHold: Double { max(hold?.seconds ?? 0, second?.hold?.seconds ?? 0) }

    /// Packets that found it full, or were too large. Any thread.
    public var rejectedPackets: Int { rejected.load(ordering: .relaxed) }

    struct Storage: @unchecked Sendable {  // `head` has one writing thread, `tail` the other
        let headers: UnsafeMutablePointer<PacketHeader>
        let payloads: UnsafeMutableRawPointer
        let head: UnsafeMutablePointer<Atomic<Int>>
        let tail: UnsafeMutablePointer<Atomic<Int>>
        let holds: UnsafeMutablePointer<Atomic<UInt64>>  // doubles' bits: what playout holds, and may; drift
        let capacity: Int
        let payloadCapacity: Int

        init(capacity: Int, payloadCapacity: Int) {
            self.capacity = capacity
            self.payloadCapacity = (payloadCapacity + 15) & ~15
            headers = .allocate(capacity: capacity)
            payloads = .allocate(byteCount: capacity * self.payloadCapacity, alignment: 16)
            payloads.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * self.payloadCapacity)
            head = .allocate(capacity: 17)
            tail = head + 16
            holds = .allocate(capacity: 3)
            for i in 0..<3 { (holds + i).initialize(to: Atomic(0)) }
            head.initialize(to: Atomic(0))
            tail.initialize(to: Atomic(0))
        }

        func deallocate() {
            headers.deallocate()
            payloads.deallocate()
            head.deallocate()
            holds.deallocate()
        }
    }

    /// Appends a packet; false when the queue is full or the payload too large for a slot. For the one media thread.
    public func push(_ header: PacketHeader, payload: UnsafeRawBufferPointer) -> Bool {
        if let second { _ = second.push(header, payload: payload) }  // which counts what it has no room for
        guard payload.count <= storage.payloadCapacity else { return reject() }
        return append(header) { slot in
            if let bytes = payload.baseAddress { slot.copyMemory(from: bytes, byteCount: payload.count) }
        }
    }

    /// Appends a packet whose payload, of the header's bytes, `fill` writes in place, for each listener once. For the one
    /// media thread.
    public func push(_ header: PacketHeader, fill: (UnsafeMutableRawPointer) -> Void) -> Bool {
        if let second { _ = second.push(header, fill: fill) }
        guard header.byteCount <= storage.payloadCapacity else { return reject() }
        return append(header, fill)
    }

    private func append(_ header: PacketHeader, _ fill: (UnsafeMutableRawPointer) -> Void) -> Bool {
        let at = storage.head.pointee.load(ordering: .relaxed)
        guard at - storage.tail.pointee.load(ordering: .acquiring) < storage.capacity else { return reject() }
        let slot = at & (storage.capacity - 1)
        fill(storage.payloads + slot * storage.payloadCapacity)
        (storage.headers + slot).initialize(to: header)
        storage.head.pointee.store(at + 1, ordering: .releasing)
        return true
    }

    private func reject() -> Bool {
        rejected.store(rejected.load(ordering: .relaxed) + 1, ordering: .relaxed)  // one thread counts
        return false
    }
}

extension PacketQueue.Storage {
    /// Tells the media thread what playout holds, and how fast the sender's clock runs; each is looked at by itself.
    @_noLocks
    func publish(hold seconds: Double, limit: Double, drift: Double) {
        holds[0].store(seconds.bitPattern, ordering: .relaxed)
        holds[1].store(limit.bitPattern, ordering: .relaxed)
        holds[2].store(drift.bitPattern, ordering: .relaxed)
    }

    /// The oldest packet's slot, or nil; it stays the reader's until ``removeFirst()``.
    var first: Int? {
        @_noLocks get {
            let at = tail.pointee.load(ordering: .relaxed)
            return at == head.pointee.load(ordering: .acquiring) ? nil : at & (capacity &- 1)
        }
    }

    @_noLocks
    func removeFirst() { tail.pointee.store(tail.pointee.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
