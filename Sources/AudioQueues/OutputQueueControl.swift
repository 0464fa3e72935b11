// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs

/// The state of an output queue outside the render thread, guarded by the queue's lock.
struct OutputQueueControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    var phase = QueuePhase.stopped
    /// True if the queue will stop after its last buffer.
    var isEnding = false
    var rate: Float = 1
    /// The enqueued buffers that the render thread does not have yet, with their start times; nil resets the decoder.
    var waiting: [(buffer: AudioQueueBuffer, start: Int64)?] = []
    /// The sequence number of the newest buffer that the render thread has.
    var sequence = 0
    /// The number of frames given to the render thread.
    var ready = 0
    var undecodable = 0
    var losses: [AudioQueueLoss] = []
    var run = 0
    private let decoder: (any PacketDecoder)?
    /// Memory for the decoded frames of any packet.
    private let decoded: AudioBuffer?
    private let framesPerPacket: Int

    init(decoder: sending (any PacketDecoder)?, framesPerPacket: Int) {
        self.framesPerPacket = framesPerPacket
        decoded = decoder.map {
            AudioBuffer(channelCount: $0.format.channelCount, frameCapacity: $0.maximumFramesPerPacket)
        }
        self.decoder = decoder
    }

    /// Decodes waiting buffers and passes them to the render thread, whose queue has room for all.
    mutating func pump(_ renderer: OutputQueueRenderer) {
        for item in waiting {
            guard let (buffer, start) = item else {
                decoder?.reset()
                continue
            }
            decode(buffer)
            push(buffer, start, renderer)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Drops all enqueued buffers. They are returned unheard, in order.
    mutating func dropAll(_ renderer: OutputQueueRenderer) {
        for case let (buffer, start)? in waiting {
            buffer.frameCount = 0
            push(buffer, start, renderer)
        }
        waiting.removeAll(keepingCapacity: true)
        decoder?.reset()
        renderer.controls.flush(to: sequence)
    }

    /// Stops the queue after its last buffer.
    mutating func end(_ renderer: OutputQueueRenderer) {
        isEnding = true
        pump(renderer)
        renderer.controls.end(at: sequence)
    }

    private mutating func push(_ buffer: AudioQueueBuffer, _ start: Int64, _ renderer: OutputQueueRenderer) {
        sequence += 1
        ready += buffer.frameCount
        renderer.incoming.writer.push(
            QueuedBuffer(
                samples: buffer.samples, frameCount: buffer.frameCount, id: buffer.id, sequence: sequence,
                start: start))
    }

    private mutating func decode(_ buffer: AudioQueueBuffer) {
        guard let decoder, let decoded else { return }
        buffer.frameCount = 0
        for index in buffer.packetDescriptions.indices {
            let room = buffer.frameCapacity - buffer.frameCount
            var count = 0
            do throws(CodecError) {
                count = try decoder.decode(buffer.packet(index), into: decoded.channels, offset: 0)
                guard count <= room else {
                    throw .badPacket(codec: "queue", detail: "\(count) frames in the place of \(framesPerPacket)")
                }
                for c in 0..<buffer.samples.count {
                    copySamples(buffer.samples[c] + buffer.frameCount, decoded.channels[c], count)
                }
            } catch {
                count = min(room, framesPerPacket)
                for c in 0..<buffer.samples.count { clearSamples(buffer.samples[c] + buffer.frameCount, count) }
                losses.append(
                    AudioQueueLoss(
                        kind: .undecodable, frameCount: count, sampleTime: nil, position: ready + buffer.frameCount))
                undecodable += count
            }
            buffer.frameCount += count
        }
    }
}
