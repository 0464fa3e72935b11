// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine

/// A filled buffer on its way from the render thread.
struct CapturedBuffer: BitwiseCopyable, Sendable {
    var id: Int
    var frameCount: Int
    /// The time of the buffer's first frame on the engine's frame counter, at the queue's rate.
    var time: Int64
    /// The number of the engine's start during which the buffer was filled.
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
    private var filledFrameCount = 0
    private var time: Int64 = 0
    private var start = 0
    private var expectedTime: Int64 = .min
    /// The frame after the last block. A smaller frame shows that the engine was started again, because each start counts from 0.
    private var lastBlockEnd: Int64 = .min
    private var starts = 0
    /// The ``RunControls/Handle/run`` whose end was reported last.
    private(set) var ended = 0
    private var announcedRun = 0
    private var position = 0
    private var gapFrameCount = 0
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
    /// - Parameter now: the time of the block's first frame, at the queue's rate.
    @_noLocks
    mutating func capture(_ now: Int64, _ frameCount: Int, _ input: ReadOnlyChannels) {
        let run = controls.run
        controls.report(now &+ Int64(frameCount))
        if now < lastBlockEnd {
            starts &+= 1
            controls.report(starts: starts)
        }
        lastBlockEnd = now &+ Int64(frameCount)
        level.store(Level(of: input, frameCount: frameCount))
        guard run > 0 else {
            if run != ended { finish(run) }
            expectedTime = .min
            return
        }
        // A run that has begun continues even if the engine was started again and counts from 0.
        let wait = announcedRun != run && controls.start > now ? controls.start &- now : 0
        guard wait < Int64(frameCount) else { return }
        var done = Int(wait)
        noteSkipped(now)
        if announcedRun != run {
            announcedRun = run
            records.push(QueueRecord(.started, time: now &+ Int64(done)))
        }
        while done < frameCount { done &+= fillBuffer(input, done, frameCount &- done, now &+ Int64(done)) }
        expectedTime = now &+ Int64(frameCount)
    }

    /// Delivers the partly filled buffer if the block does not follow the last one, so that no buffer spans a gap. Reports frames
    /// that the device skipped.
    @_noLocks
    private mutating func noteSkipped(_ now: Int64) {
        guard expectedTime != .min, now != expectedTime else { return }
        closeGap()
        if filledFrameCount > 0 { handOver() }
        guard now > expectedTime else { return }
        let count = Int(now &- expectedTime)
        records.push(QueueRecord(.skipped, time: expectedTime, frameCount: count, position: position))
        controls.add(count, to: .skipped)
    }

    @_noLocks
    private mutating func fillBuffer(_ input: ReadOnlyChannels, _ offset: Int, _ room: Int, _ now: Int64) -> Int {
        if !hasCurrent {
            guard let next = incoming.pop() else {
                if gapFrameCount == 0 { gapStart = now }
                gapFrameCount &+= room
                controls.add(room, to: .overrun)
                return room
            }
            current = next
            hasCurrent = true
            filledFrameCount = 0
        }
        closeGap()
        if filledFrameCount == 0 {
            time = now
            start = starts
        }
        var count = current.frameCount &- filledFrameCount
        if count > room { count = room }
        for c in 0..<current.samples.count where c < input.count {
            copySamples(current.samples[c] + filledFrameCount, input[c] + offset, count)
        }
        filledFrameCount &+= count
        position &+= count
        controls.add(count, to: .played)
        if filledFrameCount >= current.frameCount { handOver() }
        return count
    }

    @_noLocks
    private mutating func closeGap() {
        guard gapFrameCount > 0 else { return }
        records.push(QueueRecord(.overrun, time: gapStart, frameCount: gapFrameCount, position: position))
        gapFrameCount = 0
    }

    @_noLocks
    private mutating func handOver() {
        filled.push(CapturedBuffer(id: current.id, frameCount: filledFrameCount, time: time, start: start))
        hasCurrent = false
        filledFrameCount = 0
        wakeup.wake()
    }

    /// Ends a run, even one that captured no block, and delivers the partly filled buffer.
    @_noLocks
    private mutating func finish(_ run: Int) {
        closeGap()
        if filledFrameCount > 0 { handOver() }
        ended = run
        records.push(QueueRecord(.stopped, position: 0 &- run))
        wakeup.wake()
    }
}
