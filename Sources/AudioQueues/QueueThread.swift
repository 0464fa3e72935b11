// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine

/// The thread on which a queue works, so that a slow callback delays no other queue. In manual rendering the thread that renders
/// does the work.
final class QueueThread: Sendable {
    private let thread = LockedValue<ServiceThread?>(nil)
    private let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    /// Starts the thread, unless it is running or the engine renders manually.
    /// - Parameter work: returns false once the queue is released.
    func start(for engine: AudioEngine, _ work: @escaping @Sendable () -> Bool) throws(AudioQueueError) {
        guard !engine.isInManualRenderingMode else { return }
        let code = thread.withLock { thread -> Int32 in
            guard thread == nil else { return 0 }
            let new = ServiceThread(name: "audio queue", wakeup: wakeup, work: work)
            let code = new.start()
            if code == 0 { thread = new }
            return code
        }
        if code != 0 { throw .noThread(code: Int(code)) }
    }

    /// Returns true if the engine must do the queue's work, because the queue has no thread. Ends a thread that was started
    /// before the engine changed to manual rendering.
    func isServed(to engine: AudioEngine) -> Bool {
        guard thread.withLock({ $0 != nil }) else { return true }
        guard engine.isInManualRenderingMode else { return false }
        stop()
        return true
    }

    /// Ends the thread and waits for it.
    func stop() {
        let last = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        last?.stop()
    }
}
