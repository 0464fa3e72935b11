// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine

/// Owns the render thread's memory of an output queue, and the lock-free queues between the render thread and others.
final class OutputQueueRenderer: @unchecked Sendable {  // `memory` is the render thread's alone
    let incoming: MessageQueue<QueuedBuffer>
    let handedBack: MessageQueue<Int>
    let records = MessageQueue<QueueRecord>(capacity: 256)
    let controls = RunControls()
    let wakeup = Wakeup()
    let buffers = QueueBuffers()
    private let memory: UnsafeMutablePointer<OutputQueueState>

    init(format: AudioFormat, isVarispeed: Bool, capacity: Int) {
        incoming = MessageQueue(capacity: capacity)
        handedBack = MessageQueue(capacity: capacity)
        memory = .allocate(capacity: 1)
        memory.initialize(
            to: OutputQueueState(
                incoming: incoming.reader, handedBack: handedBack.writer, records: records.writer,
                controls: controls.handle, wakeup: wakeup.handle, format: format, isVarispeed: isVarispeed))
    }

    deinit {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    @_noLocks
    func render(_ time: Int64, _ frameCount: Int, _ output: Channels) {
        memory.pointee.render(time, frameCount, output)
    }
}
