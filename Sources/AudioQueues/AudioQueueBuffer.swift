// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Memory that circulates between a queue and its user. The queue allocates it; one of them fills it, and the other empties it.
///
/// The user may use the buffer, on one thread at a time, from its allocation or delivery until it is enqueued.
public final class AudioQueueBuffer: @unchecked Sendable {  // by that rule
    /// The maximum number of frames of a buffer, 2²⁴ − 1: 87 s at 192 kHz.
    package static let maximumFrameCapacity = 0xFF_FFFF
    /// The capacity in frames of PCM, or of the sound that the packets decode to.
    public let frameCapacity: Int
    /// The capacity in packets; 0 for PCM.
    public let packetCapacity: Int
    /// The samples, one pointer for each channel. In a queue of packets only the queue uses them.
    public let samples: Channels
    /// The number of valid frames of PCM.
    public var frameCount = 0
    /// The packets' bytes; empty for PCM.
    public let bytes: UnsafeMutableRawBufferPointer
    /// The number of valid bytes.
    public private(set) var byteCount = 0
    /// The packets, in order.
    public private(set) var packetDescriptions: [AudioStreamPacketDescription] = []
    /// The time of a recorded buffer's first frame, on the engine's frame counter at the queue's rate. The buffer's frames are
    /// contiguous. For packets it is the first frame that no earlier packet encoded.
    public internal(set) var sampleTime: Int64 = 0

    /// The number of the engine's start, counted since the queue was created, during which the buffer was recorded.
    var start = 0
    /// The index among the queue's buffers, or ``tailID``.
    let id: Int
    /// The ID of the buffer for an encoder's remainder, which does not circulate.
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

    /// Describes the packets that were written to ``bytes``.
    /// - Throws: ``AudioQueueError/badBuffer(detail:)``, with nothing changed, if the packets do not fit.
    public func setPackets(
        byteCount: Int, descriptions: [AudioStreamPacketDescription]
    ) throws(AudioQueueError) {
        guard (0...bytes.count).contains(byteCount) else {
            throw .badBuffer(detail: "it has room for \(bytes.count) bytes, not \(byteCount)")
        }
        guard descriptions.count <= packetCapacity else {
            throw .badBuffer(detail: "it has room for \(packetCapacity) packets, not \(descriptions.count)")
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

    /// Removes all frames and packets.
    public func removeAll() {
        frameCount = 0
        byteCount = 0
        packetDescriptions.removeAll(keepingCapacity: true)
    }

    /// Returns the bytes of a packet.
    /// - Precondition: the index is valid.
    public func packet(_ index: Int) -> UnsafeRawBufferPointer {
        let packet = packetDescriptions[index]
        return UnsafeRawBufferPointer(rebasing: bytes[packet.startOffset..<packet.startOffset + packet.byteCount])
    }

    /// Marks the buffer as enqueued. Returns false if it was enqueued already.
    func claim() -> Bool { !isEnqueued.exchange(true, ordering: .acquiringAndReleasing) }
    /// Marks the buffer as not enqueued, before the queue delivers it to the user.
    func release() { isEnqueued.store(false, ordering: .releasing) }
}
