// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The media thread's description of a packet for the render callback.
@frozen
public struct PacketHeader: BitwiseCopyable, Sendable {
    /// The unwrapped sequence number; not negative.
    public var sequence: Int
    /// The unwrapped position of the packet's first frame on the stream's timeline, at the stream's rate.
    public var position: Int
    /// The frames in the packet.
    public var frameCount: Int
    /// The bytes of the payload.
    public var byteCount: Int
    /// The host time at which the packet was ready for playing.
    public var arrival: HostTime
    /// True if the sender has started, or restarted: positions before and after are unrelated.
    public var startsStream: Bool
    /// True if the packet was recovered from another packet or retransmitted, so that its arrival does not show the network's
    /// delay.
    public var isRecovered: Bool
    /// True if the packet was recovered on request: playout does not wait for such packets.
    public var wasRequested: Bool

    /// True if the packet is in the fallback codec (``PlayoutConfiguration/fallback``).
    public var isFallbackCodec = false
    /// True if a link that was too slow has recovered, so that playout must ignore earlier delays.
    public var endsCongestion = false
    /// The look-ahead of the packet's encoder in frames, by which the packet arrives later after its last frame.
    package var lookahead = 0

    /// Creates a header.
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

/// The packets from the media thread to the render callback: a wait-free queue of slots of one size.
///
/// A full queue drops and counts packets: the callback has stopped, and the queued ones are already stale.
///
/// The queue is the single input of a stream: the queue of a second listener (``second``) gets each packet too.
public final class PacketQueue: @unchecked Sendable {  // `second` is the media thread's; the rest is constant or atomic
    let storage: Storage
    private let rejected = Atomic<Int>(0)

    /// The queue of a second playout, which also gets each packet that is pushed here, even if this queue is full; nil for none.
    /// For the media thread.
    package var second: PacketQueue?

    /// - Parameters:
    ///   - capacity: the number of packets, rounded up to a power of two.
    ///   - payloadCapacity: the maximum bytes of a payload.
    public init(capacity: Int, payloadCapacity: Int) {
        storage = Storage(
            capacity: max(2, 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)), payloadCapacity: payloadCapacity
        )
    }

    deinit { storage.deallocate() }

    /// The depth of the jitter buffer at the last pull and its limit, in seconds; nil until the first packet has arrived. The
    /// media thread requests only packets that can still arrive in time.
    package var hold: (seconds: Double, limit: Double)? {
        let limit = Double(bitPattern: storage.holds[1].load(ordering: .relaxed))
        return limit > 0 ? (Double(bitPattern: storage.holds[0].load(ordering: .relaxed)), limit) : nil
    }

    /// The sender's clock relative to the device's, as playout has measured it: +10e-6 is a sender 10 ppm fast; 0 until known.
    /// For the media thread.
    package var drift: Double { Double(bitPattern: storage.holds[2].load(ordering: .relaxed)) }

    /// The maximum seconds for which a late packet is in time for a listener: ``hold``, or the second listener's if that is
    /// longer. For the media thread.
    package var longestHold: Double { max(hold?.seconds ?? 0, second?.hold?.seconds ?? 0) }

    /// The packets dropped because the queue was full, or because they were too large. Any thread.
    public var rejectedPackets: Int { rejected.load(ordering: .relaxed) }

    struct Storage: @unchecked Sendable {  // `head` has one writing thread, `tail` the other
        let headers: UnsafeMutablePointer<PacketHeader>
        let payloads: UnsafeMutableRawPointer
        let head: UnsafeMutablePointer<Atomic<Int>>
        let tail: UnsafeMutablePointer<Atomic<Int>>
        let holds: UnsafeMutablePointer<Atomic<UInt64>>  // bits of Doubles: the playout's depth, its limit, the drift
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

    /// Appends a packet. Returns false if the queue is full or the payload too large. For the media thread.
    public func push(_ header: PacketHeader, payload: UnsafeRawBufferPointer) -> Bool {
        if let second { _ = second.push(header, payload: payload) }  // which counts its own rejected packets
        guard payload.count <= storage.payloadCapacity else { return reject() }
        return append(header) { slot in
            if let bytes = payload.baseAddress { slot.copyMemory(from: bytes, byteCount: payload.count) }
        }
    }

    /// Appends a packet whose payload `fill` writes in place, once for each listener. For the media thread.
    public func push(_ header: PacketHeader, fill: (UnsafeMutableRawPointer) -> Void) -> Bool {
        if let second { _ = second.push(header, fill: fill) }
        guard header.byteCount <= storage.payloadCapacity else { return reject() }
        return append(header, fill)
    }

    private func append(_ header: PacketHeader, _ fill: (UnsafeMutableRawPointer) -> Void) -> Bool {
        let headIndex = storage.head.pointee.load(ordering: .relaxed)
        guard headIndex - storage.tail.pointee.load(ordering: .acquiring) < storage.capacity else { return reject() }
        let slot = headIndex & (storage.capacity - 1)
        fill(storage.payloads + slot * storage.payloadCapacity)
        (storage.headers + slot).initialize(to: header)
        storage.head.pointee.store(headIndex + 1, ordering: .releasing)
        return true
    }

    private func reject() -> Bool {
        rejected.store(rejected.load(ordering: .relaxed) + 1, ordering: .relaxed)  // one thread counts
        return false
    }
}

extension PacketQueue.Storage {
    /// Publishes the playout's depth and its limit, and the sender's drift, for the media thread; each value separately.
    @_noLocks
    func publish(hold seconds: Double, limit: Double, drift: Double) {
        holds[0].store(seconds.bitPattern, ordering: .relaxed)
        holds[1].store(limit.bitPattern, ordering: .relaxed)
        holds[2].store(drift.bitPattern, ordering: .relaxed)
    }

    /// The oldest packet's slot; nil if there is none. It belongs to the reader until ``removeFirst()``.
    var first: Int? {
        @_noLocks get {
            let tailIndex = tail.pointee.load(ordering: .relaxed)
            return tailIndex == head.pointee.load(ordering: .acquiring) ? nil : tailIndex & (capacity &- 1)
        }
    }

    @_noLocks
    func removeFirst() { tail.pointee.store(tail.pointee.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
