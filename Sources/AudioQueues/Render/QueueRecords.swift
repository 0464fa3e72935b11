// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A buffer on its way to the render thread. Its samples live as long as the queue.
struct QueuedBuffer: BitwiseCopyable, @unchecked Sendable {  // one thread has it at a time
    var samples: Channels
    var frameCount: Int
    var id: Int
    /// The buffer's number in the order of enqueuing, from 1.
    var sequence: Int
    /// The frame of the engine's counter at which the buffer begins; `Int64.min` for directly after the previous buffer.
    var start: Int64
}

/// The phase of a queue, as set by the calls of its user.
enum QueuePhase { case stopped, running, paused }

/// An event that the render thread reports: a start, an end or a loss.
struct QueueRecord: BitwiseCopyable, Sendable {
    enum Kind: BitwiseCopyable { case started, stopped, underrun, overrun, late, skipped }
    var kind: Kind
    var time: Int64 = 0
    var frameCount = 0
    /// The number of frames played or recorded before the event; for an end, the run that ended.
    var position = 0

    @_noLocks
    init(_ kind: Kind, time: Int64 = 0, frameCount: Int = 0, position: Int = 0) {
        self.kind = kind
        self.time = time
        self.frameCount = frameCount
        self.position = position
    }
}

extension AudioQueueLoss {
    /// - Precondition: the record is of a loss.
    init(_ record: QueueRecord) {
        let kind: Kind
        switch record.kind {
        case .underrun: kind = .underrun
        case .late: kind = .late
        case .overrun: kind = .overrun
        case .skipped: kind = .skipped
        case .started, .stopped: preconditionFailure("no loss")
        }
        self.init(kind: kind, frameCount: record.frameCount, sampleTime: record.time, position: record.position)
    }
}
