// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs

/// The state of an input queue outside the render thread, guarded by the queue's lock.
struct InputQueueControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    /// The result of one call of ``next(_:of:)``.
    enum Step {
        case give(AudioQueueBuffer)
        /// A captured buffer filled no packet and was enqueued again.
        case proceed
        /// The recording has ended; the buffer holds the encoder's remainder.
        case end(AudioQueueBuffer?)
        case nothing
    }

    var phase = QueuePhase.stopped
    var sequence = 0
    var run = 0
    /// The newest run whose end the render thread has reported: no frames of the run will follow.
    var rested = 0
    /// True if the recording ends with the next step, because no frames will follow.
    var isEnding = false
    var error: CodecError?
    /// The number of captured frames that are in no packet, because the encoder failed.
    private(set) var unencodable = 0
    /// The events to send.
    var pendingEvents: [AudioQueueEvent] = []
    var encoder: PacketEncoder?
    /// The encoder of the ending recording, if the next recording has begun.
    private var endingEncoder: PacketEncoder?
    /// The number of frames captured before the next buffer.
    private var position = 0
    /// The buffer for the encoder's remainder, while the user does not have the buffer. It does not circulate.
    private var spareTailBuffer: AudioQueueBuffer?

    init(encoder: sending PacketEncoder?) { self.encoder = encoder }

    mutating func push(_ buffer: AudioQueueBuffer, _ renderer: InputQueueRenderer) {
        guard buffer.id != AudioQueueBuffer.tailID else { return spareTailBuffer = buffer }
        sequence += 1
        renderer.incoming.writer.push(
            QueuedBuffer(
                samples: buffer.samples, frameCount: buffer.frameCapacity, id: buffer.id, sequence: sequence,
                start: .min))
    }

    /// Prepares a new recording with a new encoder, if the last recording has stopped.
    mutating func begin(_ encoding: AudioQueueEncoding) throws(CodecError) {
        guard phase == .stopped, isEnding || encoder?.isFinished == true else { return }
        let next = try PacketEncoder.make(encoding)
        if isEnding { endingEncoder = encoder }
        encoder = next
        error = nil
    }

    /// Handles the render thread's report that a run ended. Returns true if the recording ends with the run.
    mutating func endRun(run: Int) -> Bool {
        guard run == self.run else { return false }  // a newer run has begun
        rested = run
        isEnding = phase == .stopped
        return isEnding
    }

    /// Ends the recording if ``isEnding``; otherwise handles the next captured buffer, in order.
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
        let heldFrames = encoder.isFinished ? 0 : encoder.held
        encode(buffer, by: encoder) { give throws(CodecError) in
            try encoder.encode(buffer.samples, frameCount: captured.frameCount, give)
        }
        if encoder.isFinished {
            let encodedFrames = buffer.packetDescriptions.count * encoder.format.framesPerPacket
            lose(heldFrames + captured.frameCount - encodedFrames, upTo: captured)
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

    /// Counts and reports the last frames that a failed encoder took, which are in no packet.
    private mutating func lose(_ count: Int, upTo captured: CapturedBuffer) {
        guard count > 0 else { return }
        unencodable += count
        let framesBefore = captured.frameCount - count
        let loss = AudioQueueLoss(
            kind: .unencodable, frameCount: count, sampleTime: captured.time + Int64(framesBefore),
            position: position + framesBefore)
        pendingEvents.append(.lost(loss))
    }

    /// Returns a buffer with the encoder's remainder at the end of a recording; nil if there is none.
    private mutating func tail(of queue: ObjectIdentifier) -> AudioQueueBuffer? {
        let last = endingEncoder ?? encoder
        endingEncoder = nil
        guard let encoder = last, !encoder.isFinished else { return nil }
        let (format, packets) = (encoder.format, PacketEncoder.tailPacketCount)
        let buffer =
            spareTailBuffer
            ?? AudioQueueBuffer(
                id: AudioQueueBuffer.tailID, queue: queue, channelCount: format.processingFormat.channelCount,
                frames: packets * format.framesPerPacket, packets: packets,
                packetByteCount: format.maximumPacketByteCount)
        encode(buffer, by: encoder) { give throws(CodecError) in try encoder.finish(give) }
        spareTailBuffer = buffer.packetDescriptions.isEmpty ? buffer : nil
        return spareTailBuffer == nil ? buffer : nil
    }
}
