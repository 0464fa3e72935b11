// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine

extension AudioOutputQueue {
    /// Starts playback, or resumes after ``pause()``.
    /// - Parameter time: the time at which the first frame is heard.
    /// - Throws: ``AudioQueueError/noThread(code:)``, ``AudioQueueError/stopping``.
    public func start(at time: AudioQueueTime = .now) throws(AudioQueueError) {
        try startThread()
        let start = time.frame(of: engine)
        let renderer = renderer
        let isStopping = state.withLock { state in
            guard state.phase != .running else { return state.isEnding }
            state.run += 1
            state.phase = .running
            state.pump(renderer)
            renderer.controls.begin(run: state.run, at: start)
            return false
        }
        if isStopping { throw .stopping }
    }

    /// Fades out within 10 ms and keeps the position; no frame is lost.
    public func pause() {
        let controls = renderer.controls
        state.withLock { state in
            guard state.phase == .running else { return }
            state.phase = .paused
            controls.halt()
        }
    }

    /// Stops playback.
    /// - Parameter immediately: true to fade out within 10 ms and return the unheard buffers. False to play all enqueued buffers
    ///   to their end: until then no other buffer is accepted, and ``AudioQueueEvent/stopped`` reports the end.
    public func stop(immediately: Bool = true) {
        let renderer = renderer
        let isOver = state.withLock { state in
            let wasRunning = state.phase == .running
            if immediately || state.phase == .stopped {
                state.phase = .stopped
                state.isEnding = false
                renderer.controls.halt()
                renderer.controls.end(at: .max)
                state.dropAll(renderer)
                return !wasRunning
            }
            state.end(renderer)
            return false
        }
        if isOver { send(.stopped) }
        renderer.wakeup.handle.wake()
    }

    /// Stops after the last enqueued buffer, as `stop(immediately: false)` does, but without an event. Does nothing if the queue
    /// is not running.
    func stopBehindLast() {
        let renderer = renderer
        state.withLock { state in
            guard state.phase == .running, !state.isEnding else { return }
            state.end(renderer)
        }
        renderer.wakeup.handle.wake()
    }

    /// Revokes a pending ``stop(immediately:)``, also while paused.
    /// - Returns: true if the queue is running; false if it is paused or has stopped meanwhile.
    func proceed() -> Bool {
        let controls = renderer.controls
        return state.withLock { state in
            guard state.isEnding else { return state.phase == .running }
            controls.end(at: .max)
            state.isEnding = false
            if state.phase == .running, controls.handle.run == 0 { state.phase = .stopped }
            return state.phase == .running
        }
    }

    /// Resets the decoder after the enqueued buffers; needed before another file's packets (`AudioQueueFlush`).
    public func flush() { state.withLock { $0.waiting.append(nil) } }

    /// Returns all enqueued buffers unheard, after a fade of 10 ms, and plays what is enqueued next (`AudioQueueReset`).
    public func reset() {
        let renderer = renderer
        state.withLock { $0.dropAll(renderer) }
        renderer.wakeup.handle.wake()
    }

    private func startThread() throws(AudioQueueError) {
        try thread.start(for: engine) { [weak self] in
            self?.serve()
            return self != nil
        }
    }

    /// Called by the engine; serves the queue if it has no thread of its own.
    func serveUnlessThreaded() { if thread.isServed(to: engine) { serve() } }

    /// Decodes enqueued buffers, returns played ones and sends events.
    func serve() {
        let renderer = renderer
        let (finished, losses) = serving.withLock { _ in
            state.withLock { state in
                state.pump(renderer)
                var finished: [AudioQueueBuffer] = []
                while let id = renderer.handedBack.pop() { finished.append(renderer.buffers[id]) }
                defer { state.losses.removeAll() }
                return (finished, state.losses)
            }
        }
        for loss in losses { send(.lost(loss)) }
        var records: [QueueRecord] = []
        while let record = state.withLock({ _ in renderer.records.pop() }) { records.append(record) }
        // The end of a run is reported after the buffers that were played before the end are returned.
        let ending = records.firstIndex { $0.kind == .stopped } ?? records.count
        for record in records[..<ending] { notify(record) }
        for buffer in finished {
            buffer.release()
            if let callback { callback(self, buffer) } else { played.yield(buffer) }
        }
        for record in records[ending...] { notify(record) }
    }

    private func notify(_ record: QueueRecord) {
        switch record.kind {
        case .started: send(.started(sampleTime: record.time))
        case .stopped: if let event = ended(run: record.position) { send(event) }
        case .underrun, .late, .overrun, .skipped: send(.lost(AudioQueueLoss(record)))
        }
    }

    /// Handles the render thread's report that a run ended, by a pause or by a stop. Returns the event to send; nil if playback
    /// goes on.
    private func ended(run: Int) -> AudioQueueEvent? {
        let renderer = renderer
        return state.withLock { state in
            guard run == state.run else { return nil }
            if state.phase == .paused { return .paused }
            if state.phase == .running, !state.isEnding {  // `proceed` was called while the run ended
                state.run += 1
                renderer.controls.begin(run: state.run, at: .min)
                return nil
            }
            if state.isEnding {
                state.isEnding = false
                state.phase = .stopped
                renderer.controls.end(at: .max)
            }
            return .stopped
        }
    }
}
