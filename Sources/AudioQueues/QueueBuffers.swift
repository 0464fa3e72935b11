// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The buffers of a queue. The render thread may still use them after the queue was released.
final class QueueBuffers: Sendable {
    /// The maximum number of buffers of a queue.
    static let maximumCount = 64
    private let buffers = LockedValue<[AudioQueueBuffer]>([])

    subscript(id: Int) -> AudioQueueBuffer { buffers.withLock { $0[id] } }

    /// Allocates a buffer for packets of the codec's maximum size; for PCM each packet is one frame.
    func allocate(
        packetCount: Int, of format: AudioQueueFormat, for queue: ObjectIdentifier
    ) throws(AudioQueueError) -> AudioQueueBuffer {
        precondition(packetCount >= 1)
        let frames = try format.frameCapacity(ofPackets: packetCount)
        return try buffers.withLock { buffers throws(AudioQueueError) in
            guard buffers.count < Self.maximumCount else { throw .tooManyBuffers(maximum: Self.maximumCount) }
            let buffer = AudioQueueBuffer(
                id: buffers.count, queue: queue, channelCount: format.processingFormat.channelCount, frames: frames,
                packets: format.isPacketised ? packetCount : 0, packetByteCount: format.maximumPacketByteCount)
            buffers.append(buffer)
            return buffer
        }
    }
}
