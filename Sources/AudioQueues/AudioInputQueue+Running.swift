// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioEngine

extension AudioInputQueue {
    /// Starts recording, or resumes after ``pause()``.
    /// - Parameter time: the time of the first recorded frame.
    /// - Throws: ``AudioQueueError/noThread(code:)``, ``AudioQueueError/codec(_:)``.
    public func start(at time: AudioQueueTime = .now) throws(AudioQueueError) {
        try startThread()
        let start = time.frame(of: engine)
        let renderer = renderer
        let encoding = encoding
        let failure = state.withLock { state -> CodecError? in
            guard state.phase != .running else { return nil }
            do throws(CodecError) { try state.begin(encoding) } catch { return error }
            state.run += 1
            state.phase = .running
            renderer.controls.begin(run: state.run, at: start)
            return nil
        }
        if let failure { throw .codec(failure) }
    }

    /// Suspends recording. The partly filled buffer is delivered, so that no buffer has a hole. Does nothing if the queue is not
    /// running.
    public func pause() {
        let controls = renderer.controls
        state.withLock { state in
            guard state.phase == .running else { return }
            state.phase = .paused
            controls.halt(state.run)
        }
    }

    /// Ends the recording, also a paused one. Delivers the captured frames and the encoder's remainder, then sends
    /// ``AudioQueueEvent/stopped``. Frames captured right before the call are delivered when the engine renders its next block.
    public func stop() {
        let controls = renderer.controls
        let isOver = state.withLock { state -> Bool in
            let phase = state.phase
            state.phase = .stopped
            switch phase {
            case .running: controls.halt(state.run)
            case .paused: if state.rested == state.run { state.isEnding = true }
            case .stopped: return state.rested == state.run && !state.isEnding
            }
            return false
        }
        if isOver { send(.stopped) }
        renderer.wakeup.handle.wake()
    }

    /// Delivers the partly filled buffer if no thread renders; in manual rendering on the rendering thread.
    func settle() {
        guard engine.isInManualRenderingMode || !engine.isRunning else { return }
        thread.stop()  // or two would hand over
        renderer.settle()
        serve()
    }

    /// The first frame of the next block at the queue's rate, `Int64.min` for the first block, and the number of the engine's
    /// start since the queue was made. Each start counts frames from 0.
    var nextFrame: (start: Int, time: Int64) {
        let start = renderer.controls.starts  // before the frame, as it is written behind it
        let next = Int64(renderer.controls.next)
        guard next != 0 else { return (start, .min) }
        guard engine.sampleTime(at: .now()) != nil else { return (start + 1, .min) }
        // While the first block is rendered, the count is that of the previous start.
        let isOld = next > renderer.controls.handle.frame(engine.sampleTime + Int64(IOCycle.maximumFrameCount))
        return isOld ? (start + 1, .min) : (start, next)
    }

    private func startThread() throws(AudioQueueError) {
        try thread.start(for: engine) { [weak self] in
            self?.serve()
            return self != nil
        }
    }

    /// Called on the engine's thread if the queue has no thread.
    func serveUnlessThreaded() { if thread.isServed(to: engine) { serve() } }

    /// Encodes the captured frames, delivers buffers and sends events.
    func serve() {
        let renderer = renderer
        // Read before the buffers, so that all buffers filled before an end are seen.
        var records: [QueueRecord] = []
        while let record = state.withLock({ _ in renderer.records.pop() }) { records.append(record) }
        handOver()
        for record in records {
            switch record.kind {
            case .started: send(.started(sampleTime: record.time))
            case .stopped: if state.withLock({ $0.endRun(run: record.position) }) { handOver() } else { send(.paused) }
            case .underrun, .late, .overrun, .skipped: send(.lost(AudioQueueLoss(record)))
            }
        }
    }

    private func handOver() {
        let (renderer, me) = (renderer, ObjectIdentifier(self))
        while true {
            let (step, pendingEvents) = state.withLock { state in
                defer { state.pendingEvents = [] }
                return (state.next(renderer, of: me), state.pendingEvents)
            }
            for event in pendingEvents { send(event) }
            switch step {
            case .give(let buffer): give(buffer)
            case .proceed: continue
            case .end(let tail):
                if let tail { give(tail) }
                send(.stopped)
            case .nothing: return
            }
        }
    }

    private func give(_ buffer: AudioQueueBuffer) {
        buffer.release()
        if let callback { callback(self, buffer) } else { recorded.yield(buffer) }
    }
}
