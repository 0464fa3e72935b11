import AudioBase
import AudioCodecs
import AudioEngine

/// An input queue's control side, under its lock.
struct InputQueueControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    enum Phase { case stopped, running, paused }

    var phase = Phase.stopped
    var sequence = 0
    var run = 0
    var thread: ServiceThread?
    var error: CodecError?
    var encoder: PacketEncoder?
    /// Room for what the encoder holds at the end of a recording, while its user does not have it. Beside those that go round.
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

    /// Takes what was captured; returns nil where nothing came of it, and the buffer went back to be filled.
    mutating func receive(
        _ captured: CapturedBuffer, _ buffer: AudioQueueBuffer, _ renderer: InputQueueRenderer
    ) -> AudioQueueBuffer? {
        buffer.sampleTime = captured.time
        buffer.frameCount = captured.frameCount
        guard let encoder else { return buffer }
        encode(buffer) { give throws(CodecError) in
            try encoder.encode(buffer.samples, frameCount: captured.frameCount, give)
        }
        guard buffer.packetDescriptions.isEmpty else { return buffer }
        push(buffer, renderer)
        return nil
    }

    private mutating func encode(
        _ buffer: AudioQueueBuffer, _ body: ((UnsafeRawBufferPointer) -> Void) throws(CodecError) -> Void
    ) {
        guard error == nil else { return }
        var fits = true
        do throws(CodecError) {
            try body { if !buffer.append($0) { fits = false } }
            if !fits { throw .libraryFailure(codec: "a queue's", call: "encode", code: buffer.bytes.count) }
        } catch { self.error = error }
    }

    /// What the encoder still holds, at the end of a recording; nil where that is nothing.
    mutating func tail(of queue: ObjectIdentifier) -> AudioQueueBuffer? {
        guard let encoder, !encoder.isFinished else { return nil }
        let (format, packets) = (encoder.format, PacketEncoder.tailPacketCount)
        let buffer =
            spare
            ?? AudioQueueBuffer(
                id: AudioQueueBuffer.tailID, queue: queue, channelCount: format.processingFormat.channelCount,
                frames: packets * format.framesPerPacket, packets: packets,
                packetByteCount: format.maximumPacketByteCount)
        encode(buffer) { give throws(CodecError) in try encoder.finish(give) }
        spare = buffer.packetDescriptions.isEmpty ? buffer : nil
        return spare == nil ? buffer : nil
    }
}

extension AudioInputQueue {
    /// Begins to record, or goes on after ``pause()``.
    /// - Parameter time: of the first frame that is recorded.
    /// - Throws: ``AudioQueueError/noThread(code:)``, ``AudioQueueError/codec(_:)``.
    public func start(at time: AudioQueueTime = .now) throws(AudioQueueError) {
        try startThread()
        let start = frame(at: time)
        let renderer = renderer
        let encoding = encoding
        let failure = state.withLock { state -> CodecError? in
            guard state.phase != .running else { return nil }
            if state.phase == .stopped, state.encoder?.isFinished == true {
                do throws(CodecError) { state.encoder = try PacketEncoder.make(encoding) } catch { return error }
                state.error = nil
            }
            state.run += 1
            state.phase = .running
            renderer.controls.begin(run: state.run, at: start)
            return nil
        }
        if let failure { throw .codec(failure) }
    }

    /// Stands still; what is in the present buffer is handed over, so that no buffer has a hole.
    public func pause() { halt(to: .paused) }

    /// Ends the recording. What was captured is handed over, then ``AudioQueueEvent/stopped`` is told.
    public func stop() { halt(to: .stopped) }

    private func halt(to phase: InputQueueControl.Phase) {
        let controls = renderer.controls
        let wasRunning = state.withLock { state in
            defer { state.phase = phase }
            guard state.phase == .running else { return false }
            controls.halt()
            return true
        }
        if !wasRunning, phase == .stopped { send(.stopped) }
    }

    /// Hands over what was begun, where nobody renders who would; in manual rendering on the thread that does.
    func settle() {
        guard engine.isInManualRenderingMode || !engine.isRunning else { return }
        endThread()  // or two would hand over
        renderer.settle()
        serve()
    }

    /// The frame that the next block begins with, at the queue's rate; `Int64.min` before the first.
    var nextFrame: Int64 {
        let next = renderer.controls.next
        return next == 0 ? .min : Int64(next)
    }

    func frame(at time: AudioQueueTime) -> Int64 {
        let frame: Int64?
        switch time {
        case .now: return .min
        case .sample(let sample): frame = sample
        case .host(let instant): frame = engine.sampleTime(at: instant)
        }
        guard let frame, let rate = engine.sampleRate else { return .min }
        return Int64((Double(frame) * format.processingFormat.sampleRate / rate).rounded())
    }

    private func startThread() throws(AudioQueueError) {
        guard !engine.isInManualRenderingMode else { return }
        let thread = ServiceThread(name: "audio queue", wakeup: renderer.wakeup) { [weak self] in
            self?.serve()
            return self != nil
        }
        let code = state.withLock { state -> Int32 in
            guard state.thread == nil else { return 0 }
            let code = thread.start()
            if code == 0 { state.thread = thread }
            return code
        }
        if code != 0 { throw .noThread(code: Int(code)) }
    }

    /// On the engine's thread, where the queue has none of its own.
    func serveUnlessThreaded() {
        if state.withLock({ $0.thread != nil }) {
            // Started before the engine: a thread has the time that manual rendering does not take.
            guard engine.isInManualRenderingMode else { return }
            endThread()
        }
        serve()
    }

    func endThread() {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        thread?.stop()
    }

    /// Encodes what was captured and hands it over, tells what happened.
    func serve() {
        let renderer = renderer
        while true {
            let next = state.withLock { state -> (AudioQueueBuffer?, Bool) in
                guard let captured = renderer.filled.pop() else { return (nil, false) }
                let buffer = renderer.buffers.withLock { $0[captured.id] }
                return (state.receive(captured, buffer, renderer), true)
            }
            guard next.1 else { break }
            if let buffer = next.0 { give(buffer) }
        }
        while let record = state.withLock({ _ in renderer.records.pop() }) {
            switch record.kind {
            case .started: send(.started(sampleTime: record.time))
            case .stopped: end()
            case .underrun: send(.lost(record.loss(.underrun)))
            case .late: send(.lost(record.loss(.late)))
            case .overrun: send(.lost(record.loss(.overrun)))
            case .skipped: send(.lost(record.loss(.skipped)))
            }
        }
    }

    private func give(_ buffer: AudioQueueBuffer) {
        buffer.release()
        if let callback { callback(self, buffer) } else { recorded.yield(buffer) }
    }

    /// The render side has come to rest: by a pause, or for good.
    private func end() {
        guard state.withLock({ $0.phase }) == .stopped else { return send(.paused) }
        let me = ObjectIdentifier(self)
        if let tail = state.withLock({ $0.tail(of: me) }) { give(tail) }
        send(.stopped)
    }
}
