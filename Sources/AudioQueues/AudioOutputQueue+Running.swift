// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine

extension AudioOutputQueue {
    /// Begins, or goes on after ``pause()``.
    /// - Parameter time: when the first frame is to be heard.
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

    /// Fades out within 10 ms and stays where it is; nothing is lost.
    public func pause() {
        let controls = renderer.controls
        state.withLock { state in
            guard state.phase == .running else { return }
            state.phase = .paused
            controls.halt()
        }
    }

    /// Stops.
    /// - Parameter immediately: fades out within 10 ms, and hands back what was not heard; otherwise all that was enqueued is heard
    ///   first, and nothing more is taken until then. ``AudioQueueEvent/stopped`` tells when it has come to its end.
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

    /// Stops as ``stop(immediately:)`` does when everything was heard, if it runs: no event is needed.
    func stopBehindLast() {
        let renderer = renderer
        state.withLock { state in
            guard state.phase == .running, !state.isEnding else { return }
            state.end(renderer)
        }
        renderer.wakeup.handle.wake()
    }

    /// Revokes a pending ``stop(immediately:)``, paused or not.
    /// - Returns: true if it runs; false if it is paused or has ended meanwhile.
    func goOn() -> Bool {
        let controls = renderer.controls
        return state.withLock { state in
            guard state.isEnding else { return state.phase == .running }
            controls.end(at: .max)
            state.isEnding = false
            if state.phase == .running, controls.handle.run == 0 { state.phase = .stopped }
            return state.phase == .running
        }
    }

    /// Resets the decoder after the enqueued buffers, as needed before another file's packets (`AudioQueueFlush`).
    public func flush() { state.withLock { $0.waiting.append(nil) } }

    /// Hands back all that is enqueued, unheard but for a fade of 10 ms, and goes on with what comes (`AudioQueueReset`).
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

    /// Called on the engine's thread if the queue has no thread.
    func serveUnlessThreaded() { if thread.leavesWork(to: engine) { serve() } }

    /// Decodes what is enqueued, hands back what was played, tells what happened.
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
        // The end is told when all that was heard before it is back.
        let ending = records.firstIndex { $0.kind == .stopped } ?? records.count
        for record in records[..<ending] { tell(record) }
        for buffer in finished {
            buffer.release()
            if let callback { callback(self, buffer) } else { played.yield(buffer) }
        }
        for record in records[ending...] { tell(record) }
    }

    private func tell(_ record: QueueRecord) {
        switch record.kind {
        case .started: send(.started(sampleTime: record.time))
        case .stopped: if let event = ended(run: record.position) { send(event) }
        case .underrun, .late, .overrun, .skipped: send(.lost(AudioQueueLoss(record)))
        }
    }

    /// The render side has come to rest: by a pause, or for good.
    private func ended(run: Int) -> AudioQueueEvent? {
        let renderer = renderer
        return state.withLock { state in
            guard run == state.run else { return nil }
            if state.phase == .paused { return .paused }
            if state.phase == .running, !state.isEnding {  // told to go on while it ended
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
