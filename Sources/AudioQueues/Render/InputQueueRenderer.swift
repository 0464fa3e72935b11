// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine

/// Owns the render thread's memory of an input queue, and the lock-free queues between the render thread and others.
final class InputQueueRenderer: @unchecked Sendable {  // `memory` is the render thread's alone
    let incoming: MessageQueue<QueuedBuffer>
    let filled: MessageQueue<CapturedBuffer>
    let records = MessageQueue<QueueRecord>(capacity: 256)
    let controls = RunControls()
    let wakeup = Wakeup()
    let level = LatestValue(Level())
    let buffers = QueueBuffers()
    private let none = AudioBuffer(channelCount: 1, frameCapacity: 1)
    private let memory: UnsafeMutablePointer<InputQueueState>

    init(capacity: Int) {
        incoming = MessageQueue(capacity: capacity)
        filled = MessageQueue(capacity: capacity)
        memory = .allocate(capacity: 1)
        memory.initialize(
            to: InputQueueState(
                incoming: incoming.reader, filled: filled.writer, records: records.writer, controls: controls.handle,
                wakeup: wakeup.handle, level: level.writer, none: none.channels))
    }

    deinit {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    /// Delivers the partly filled buffer if the queue was paused or stopped. Call it only while no thread renders.
    func settle() {
        let run = controls.handle.run
        if run <= 0, run != memory.pointee.ended {
            memory.pointee.capture(Int64(controls.next), 0, ReadOnlyChannels(none.channels))
        }
    }

    @_noLocks
    func capture(_ time: Int64, _ frameCount: Int, _ input: ReadOnlyChannels) {
        memory.pointee.capture(time, frameCount, input)
    }
}
