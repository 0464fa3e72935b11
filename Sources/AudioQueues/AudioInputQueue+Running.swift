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

    /// Delivers the partly filled buffer of a queue that is not running, if the engine is stopped or renders manually. In manual
    /// rendering, call it on the rendering thread.
    func settle() {
        guard engine.isInManualRenderingMode || !engine.isRunning else { return }
        thread.stop()  // otherwise two threads would deliver buffers
        renderer.settle()
        serve()
    }

    /// The number of the engine's start since the queue was created, and the first frame of the next block at the queue's rate;
    /// `Int64.min` for the first block of a start. Each start counts frames from 0.
    var nextFrame: (start: Int, time: Int64) {
        let start = renderer.controls.starts  // read first, because the render thread writes it last
        let next = Int64(renderer.controls.next)
        guard next != 0 else { return (start, .min) }
        guard engine.sampleTime(at: .now()) != nil else { return (start + 1, .min) }
        // While the first block of a start is rendered, `starts` still counts the previous start.
        let isOld = next > renderer.controls.handle.frame(engine.sampleTime + Int64(IOCycle.maximumFrameCount))
        return isOld ? (start + 1, .min) : (start, next)
    }

    private func startThread() throws(AudioQueueError) {
        try thread.start(for: engine) { [weak self] in
            self?.serve()
            return self != nil
        }
    }

    /// Called by the engine; serves the queue if it has no thread of its own.
    func serveUnlessThreaded() { if thread.isServed(to: engine) { serve() } }

    /// Encodes the captured frames, delivers buffers and sends events.
    func serve() {
        let renderer = renderer
        // The records are read before the buffers, so that all buffers filled before the end of a run are delivered before it.
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
        let (renderer, queueID) = (renderer, ObjectIdentifier(self))
        while true {
            let (step, pendingEvents) = state.withLock { state in
                defer { state.pendingEvents = [] }
                return (state.next(renderer, of: queueID), state.pendingEvents)
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
