// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Memory that goes round between a queue and its user: allocated by the queue, filled by one, emptied by the other.
///
/// Its holder may use it, on one thread at a time: the user from when the queue hands it over until it is enqueued.
public final class AudioQueueBuffer: @unchecked Sendable {  // by that rule
    /// The most frames that a buffer has room for: minutes, at any rate.
    package static let maximumFrameCapacity = 0xFF_FFFF
    /// Room for frames: of PCM, or of what the packets decode to.
    public let frameCapacity: Int
    /// Room for packets; 0 of PCM.
    public let packetCapacity: Int
    /// The samples, one pointer a channel. Of a queue with packets they are the queue's own.
    public let samples: Channels
    /// Frames that are filled, of PCM.
    public var frameCount = 0
    /// The packets' bytes; empty of PCM.
    public let bytes: UnsafeMutableRawBufferPointer
    /// Bytes that are filled.
    public private(set) var byteCount = 0
    /// The packets in order.
    public private(set) var packetDescriptions: [AudioStreamPacketDescription] = []
    /// The first frame of a recorded buffer on the engine's counter, converted to the queue's rate. All its frames are without a
    /// hole; of packets it is the first frame whose sound had not gone into a packet before.
    public internal(set) var sampleTime: Int64 = 0

    /// The engine's start that a recorded buffer belongs to, of those that the queue saw.
    var start = 0
    /// Its place among the queue's, or ``tailID``.
    let id: Int
    /// The number of the last buffer, with an encoder's remainder, which does not go round.
    static let tailID = -1
    let queue: ObjectIdentifier
    private let memory: AudioBuffer
    private let isEnqueued = Atomic(false)

    init(id: Int, queue: ObjectIdentifier, channelCount: Int, frames: Int, packets: Int, packetByteCount: Int) {
        self.id = id
        self.queue = queue
        frameCapacity = frames
        packetCapacity = packets
        memory = AudioBuffer(channelCount: channelCount, frameCapacity: frames)
        samples = memory.channels
        bytes = .allocate(byteCount: packets * packetByteCount, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        packetDescriptions.reserveCapacity(packets)
    }

    deinit { bytes.deallocate() }

    /// Appends a packet.
    /// - Returns: false, with nothing changed, if the packet does not fit.
    public func append(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let from = packet.baseAddress, let to = bytes.baseAddress, !packet.isEmpty,
            packetDescriptions.count < packetCapacity, packet.count <= bytes.count - byteCount
        else { return false }
        (to + byteCount).copyMemory(from: from, byteCount: packet.count)
        packetDescriptions.append(AudioStreamPacketDescription(startOffset: byteCount, byteCount: packet.count))
        byteCount += packet.count
        return true
    }

    /// Sets the packets written to ``bytes``, as described.
    /// - Throws: ``AudioQueueError/badBuffer(detail:)`` if they do not fit, with nothing changed.
    public func setPackets(
        byteCount: Int, descriptions: [AudioStreamPacketDescription]
    ) throws(AudioQueueError) {
        guard (0...bytes.count).contains(byteCount) else {
            throw .badBuffer(detail: "\(byteCount) bytes are more than the \(bytes.count) there is room for")
        }
        guard descriptions.count <= packetCapacity else {
            throw .badBuffer(detail: "\(descriptions.count) packets are more than \(packetCapacity)")
        }
        for packet in descriptions
        where packet.startOffset < 0 || packet.byteCount < 1 || packet.startOffset > byteCount
            || packet.byteCount > byteCount - packet.startOffset
        {
            throw .badBuffer(detail: "a packet of \(packet.byteCount) bytes at \(packet.startOffset) is not inside it")
        }
        self.byteCount = byteCount
        packetDescriptions = descriptions
    }

    /// Empties it.
    public func removeAll() {
        frameCount = 0
        byteCount = 0
        packetDescriptions.removeAll(keepingCapacity: true)
    }

    /// The bytes of a packet. - Precondition: there is such a packet.
    public func packet(_ index: Int) -> UnsafeRawBufferPointer {
        let packet = packetDescriptions[index]
        return UnsafeRawBufferPointer(rebasing: bytes[packet.startOffset..<packet.startOffset + packet.byteCount])
    }

    /// Marks the buffer as enqueued. Returns false if it was enqueued already.
    func claim() -> Bool { !isEnqueued.exchange(true, ordering: .acquiringAndReleasing) }
    /// Returns the buffer to the queue's user.
    func release() { isEnqueued.store(false, ordering: .releasing) }
}
