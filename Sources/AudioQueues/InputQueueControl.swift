// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs

/// The control side of an input queue, under its lock.
struct InputQueueControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    /// The result of one step.
    enum Step {
        case give(AudioQueueBuffer)
        /// An empty buffer was enqueued again.
        case proceed
        /// The recording has ended; the buffer holds the encoder's remainder.
        case end(AudioQueueBuffer?)
        case nothing
    }

    var phase = QueuePhase.stopped
    var sequence = 0
    var run = 0
    /// The newest run whose end the render side has reported: nothing more of it will come.
    var rested = 0
    /// True if the recording is to end because nothing more will come.
    var isEnding = false
    var error: CodecError?
    /// Frames that a failed encoder left out.
    private(set) var unencodable = 0
    /// The events to send.
    var pendingEvents: [AudioQueueEvent] = []
    var encoder: PacketEncoder?
    /// The encoder of the ending recording, if the next one has begun.
    private var leaving: PacketEncoder?
    /// The number of frames captured before the next buffer.
    private var position = 0
    /// The buffer for the encoder's remainder, while the user does not have it. It does not circulate.
    private var spare: AudioQueueBuffer?

    init(encoder: sending PacketEncoder?) { self.encoder = encoder }

    mutating func push(_ buffer: AudioQueueBuffer, _ renderer: InputQueueRenderer) {
        guard buffer.id != AudioQueueBuffer.tailID else { return spare = buffer }
        sequence += 1
        renderer.incoming.writer.push(
            QueuedBuffer(
                samples: buffer.samples, frameCount: buffer.frameCapacity, id: buffer.id, sequence: sequence,
                start: .min))
    }

    /// Prepares a recording, with a new encoder.
    mutating func begin(_ encoding: AudioQueueEncoding) throws(CodecError) {
        guard phase == .stopped, isEnding || encoder?.isFinished == true else { return }
        let next = try PacketEncoder.make(encoding)
        if isEnding { leaving = encoder }
        encoder = next
        error = nil
    }

    /// Handles the end of a run on the render side. Returns true if the recording ends with it.
    mutating func endRun(run: Int) -> Bool {
        guard run == self.run else { return false }  // it goes on meanwhile
        rested = run
        isEnding = phase == .stopped
        return isEnding
    }

    /// Handles the next captured buffer, in order.
    mutating func next(_ renderer: InputQueueRenderer, of queue: ObjectIdentifier) -> Step {
        if isEnding {
            isEnding = false
            return .end(tail(of: queue))
        }
        guard let captured = renderer.filled.pop() else { return .nothing }
        let buffer = renderer.buffers[captured.id]
        buffer.sampleTime = captured.time
        buffer.start = captured.start
        buffer.frameCount = captured.frameCount
        guard let encoder else { return .give(buffer) }
        let held = encoder.isFinished ? 0 : encoder.held
        encode(buffer, by: encoder) { give throws(CodecError) in
            try encoder.encode(buffer.samples, frameCount: captured.frameCount, give)
        }
        if encoder.isFinished {
            let done = buffer.packetDescriptions.count * encoder.format.framesPerPacket
            lose(held + captured.frameCount - done, upTo: captured)
        }
        position += captured.frameCount
        guard buffer.packetDescriptions.isEmpty else { return .give(buffer) }
        push(buffer, renderer)
        return .proceed
    }

    private mutating func encode(
        _ buffer: AudioQueueBuffer, by encoder: PacketEncoder,
        _ body: ((UnsafeRawBufferPointer) -> Void) throws(CodecError) -> Void
    ) {
        guard !encoder.isFinished else { return }
        var fits = true
        do throws(CodecError) {
            try body { if !buffer.append($0) { fits = false } }
            if !fits { throw .libraryFailure(codec: "a queue's", call: "encode", code: buffer.bytes.count) }
        } catch {
            encoder.isFinished = true
            if encoder === self.encoder { self.error = error }
            pendingEvents.append(.failed(error))
        }
    }

    /// Counts the last frames of a failed encoder, which are in no packet.
    private mutating func lose(_ count: Int, upTo captured: CapturedBuffer) {
        guard count > 0 else { return }
        unencodable += count
        let before = captured.frameCount - count
        let loss = AudioQueueLoss(
            kind: .unencodable, frameCount: count, sampleTime: captured.time + Int64(before),
            position: position + before)
        pendingEvents.append(.lost(loss))
    }

    /// Returns the encoder's remainder at the end of a recording; nil if there is none.
    private mutating func tail(of queue: ObjectIdentifier) -> AudioQueueBuffer? {
        let last = leaving ?? encoder
        leaving = nil
        guard let encoder = last, !encoder.isFinished else { return nil }
        let (format, packets) = (encoder.format, PacketEncoder.tailPacketCount)
        let buffer =
            spare
            ?? AudioQueueBuffer(
                id: AudioQueueBuffer.tailID, queue: queue, channelCount: format.processingFormat.channelCount,
                frames: packets * format.framesPerPacket, packets: packets,
                packetByteCount: format.maximumPacketByteCount)
        encode(buffer, by: encoder) { give throws(CodecError) in try encoder.finish(give) }
        spare = buffer.packetDescriptions.isEmpty ? buffer : nil
        return spare == nil ? buffer : nil
    }
}
