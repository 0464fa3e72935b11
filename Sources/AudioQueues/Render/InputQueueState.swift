// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine

/// A filled buffer on its way from the render thread.
struct CapturedBuffer: BitwiseCopyable, Sendable {
    var id: Int
    var frameCount: Int
    /// The time of its first frame, at the queue's rate.
    var time: Int64
    /// The number of the engine's start.
    var start: Int
}

/// Fills buffers one after the other, on the render thread. Frames without a buffer are counted and reported.
struct InputQueueState: ~Copyable {
    private let incoming: MessageQueue<QueuedBuffer>.Reader
    private let filled: MessageQueue<CapturedBuffer>.Writer
    private let records: MessageQueue<QueueRecord>.Writer
    private let controls: RunControls.Handle
    private let wakeup: Wakeup.Handle
    private let level: LatestValue<Level>.Writer
    private var current: QueuedBuffer
    private var hasCurrent = false
    private var at = 0
    private var time: Int64 = 0
    private var start = 0
    private var expected: Int64 = .min
    /// The frame after the last block, and the number of the engine's start, as each start counts from 0.
    private var last: Int64 = .min
    private var starts = 0
    /// The ``RunControls/Handle/run`` whose end was reported last.
    private(set) var ended = 0
    private var announced = 0
    private var position = 0
    private var gap = 0
    private var gapStart: Int64 = 0

    init(
        incoming: MessageQueue<QueuedBuffer>.Reader, filled: MessageQueue<CapturedBuffer>.Writer,
        records: MessageQueue<QueueRecord>.Writer, controls: RunControls.Handle, wakeup: Wakeup.Handle,
        level: LatestValue<Level>.Writer, none: Channels
    ) {
        self.incoming = incoming
        self.filled = filled
        self.records = records
        self.controls = controls
        self.wakeup = wakeup
        self.level = level
        current = QueuedBuffer(samples: none, frameCount: 0, id: 0, sequence: 0, start: .min)
    }

    /// Captures a block.
    /// - Parameter now: its first frame, at the queue's rate.
    @_noLocks
    mutating func capture(_ now: Int64, _ frameCount: Int, _ input: ReadOnlyChannels) {
        let run = controls.run
        controls.report(now &+ Int64(frameCount))
        if now < last {
            starts &+= 1
            controls.report(starts: starts)
        }
        last = now &+ Int64(frameCount)
        level.store(Level(of: input, frameCount: frameCount))
        guard run > 0 else {
            if run != ended { finish(run) }
            expected = .min
            return
        }
        // Continue a run even if the engine was started again and counts from 0.
        let wait = announced != run && controls.start > now ? controls.start &- now : 0
        guard wait < Int64(frameCount) else { return }
        var done = Int(wait)
        noteSkipped(now)
        if announced != run {
            announced = run
            records.push(QueueRecord(.started, time: now &+ Int64(done)))
        }
        while done < frameCount { done &+= fillBuffer(input, done, frameCount &- done, now &+ Int64(done)) }
        expected = now &+ Int64(frameCount)
    }

    /// Reports a hole after frames that the device skipped, or after a new start of the engine. No buffer spans it.
    @_noLocks
    private mutating func noteSkipped(_ now: Int64) {
        guard expected != .min, now != expected else { return }
        closeGap()
        if at > 0 { handOver() }
        guard now > expected else { return }
        let count = Int(now &- expected)
        records.push(QueueRecord(.skipped, time: expected, frameCount: count, position: position))
        controls.add(count, to: .skipped)
    }

    @_noLocks
    private mutating func fillBuffer(_ input: ReadOnlyChannels, _ offset: Int, _ room: Int, _ now: Int64) -> Int {
        if !hasCurrent {
            guard let next = incoming.pop() else {
                if gap == 0 { gapStart = now }
                gap &+= room
                controls.add(room, to: .overrun)
                return room
            }
            current = next
            hasCurrent = true
            at = 0
        }
        closeGap()
        if at == 0 {
            time = now
            start = starts
        }
        var count = current.frameCount &- at
        if count > room { count = room }
        for c in 0..<current.samples.count where c < input.count {
            copySamples(current.samples[c] + at, input[c] + offset, count)
        }
        at &+= count
        position &+= count
        controls.add(count, to: .played)
        if at >= current.frameCount { handOver() }
        return count
    }

    @_noLocks
    private mutating func closeGap() {
        guard gap > 0 else { return }
        records.push(QueueRecord(.overrun, time: gapStart, frameCount: gap, position: position))
        gap = 0
    }

    @_noLocks
    private mutating func handOver() {
        filled.push(CapturedBuffer(id: current.id, frameCount: at, time: time, start: start))
        hasCurrent = false
        at = 0
        wakeup.wake()
    }

    /// Ends a run, which may not have been seen, and delivers the partly filled buffer.
    @_noLocks
    private mutating func finish(_ run: Int) {
        closeGap()
        if at > 0 { handOver() }
        ended = run
        records.push(QueueRecord(.stopped, position: 0 &- run))
        wakeup.wake()
    }
}
