// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Moves packets from the media thread's queue to the jitter buffer and returns them in the order of sequence numbers.
struct PacketIntake: ~Copyable {
    /// The sequence number of the packet to be played next.
    private(set) var nextSequence = 0

    private let queue: PacketQueue.Storage
    private var buffer: JitterBuffer
    private let isPulledLater: Bool

    init(_ configuration: PlayoutConfiguration, queue: PacketQueue.Storage) {
        self.queue = queue
        isPulledLater = configuration.isPulledLater
        buffer = JitterBuffer(capacity: 2 * configuration.packetCapacity, payloadCapacity: queue.payloadCapacity)
    }

    // MARK: Queue

    /// Returns the oldest packet's slot in the queue; nil if the queue is empty. If cycles are pulled later than they happened,
    /// also nil if the packet arrived after the cycle began.
    @_noLocks
    func arrivedSlot(by cycle: HostTime) -> Int? {
        guard let slot = queue.first else { return nil }
        if isPulledLater, queue.headers[slot].arrival.nanoseconds > cycle.nanoseconds { return nil }
        return slot
    }

    @_noLocks
    func header(inSlot slot: Int) -> PacketHeader { queue.headers[slot] }

    @_noLocks
    func payload(inSlot slot: Int) -> UnsafeMutableRawPointer { queue.payloads + slot &* queue.payloadCapacity }

    /// Returns the oldest packet's slot to the media thread.
    @_noLocks
    func removeFirstSlot() { queue.removeFirst() }

    /// Publishes the playout's depth, its limit and the drift for the media thread.
    @_noLocks
    func publish(_ statistics: PlayoutStatistics, drift: Double) {
        queue.publish(hold: statistics.depth, limit: statistics.depthLimit, drift: drift)
    }

    // MARK: Jitter buffer

    /// Starts with the first packet of a stream.
    @_noLocks
    mutating func start(at header: PacketHeader) { nextSequence = header.sequence }

    @_noLocks
    mutating func removeAll() { buffer.removeAll() }

    /// Stores a packet that is not late. After an outage longer than the buffer, drops all packets before this packet.
    @_noLocks
    mutating func insert(_ header: PacketHeader, slot: Int, _ statistics: inout PlayoutStatistics) {
        if header.sequence >= nextSequence &+ buffer.capacity {
            statistics.missingPackets &+= header.sequence &- nextSequence
            nextSequence = header.sequence
            buffer.removeAll()
        }
        buffer.insert(header, payload: payload(inSlot: slot))
    }

    /// Stores a recovered packet if it is missing and in time.
    @_noLocks
    mutating func insertRecovered(_ header: PacketHeader, slot: Int, _ statistics: inout PlayoutStatistics) {
        guard header.sequence >= nextSequence, header.sequence < nextSequence &+ buffer.capacity,
            buffer.header(of: header.sequence) == nil
        else { return }
        statistics.recoveredPackets &+= 1
        if header.wasRequested { statistics.requestedPackets &+= 1 }
        buffer.insert(header, payload: payload(inSlot: slot))
    }

    /// The packet to be played next; nil if it has not arrived.
    var next: PacketHeader? { @_noLocks get { buffer.header(of: nextSequence) } }

    @_noLocks
    func payload(of header: PacketHeader) -> UnsafeMutableRawPointer { buffer.payload(of: header.sequence) }

    @_noLocks
    mutating func advance() { nextSequence &+= 1 }

    /// Advances to the next packet that is in the buffer.
    /// - Returns: the number of missing packets skipped; nil if the buffer has no later packet.
    @_noLocks
    mutating func skipMissing() -> Int? {
        guard let present = buffer.first(from: nextSequence) else { return nil }
        let count = present &- nextSequence
        nextSequence = present
        return count
    }
}
