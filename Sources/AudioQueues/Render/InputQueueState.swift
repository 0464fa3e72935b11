// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine

/// A buffer on its way from the render thread, filled.
struct CapturedBuffer: BitwiseCopyable, Sendable {
    var id: Int
    var frameCount: Int
    /// The time of its first frame, at the queue's rate.
    var time: Int64
    /// In which of the engine's starts.
    var start: Int
}

/// Fills buffers one behind the other, on the render thread. What there is no buffer for is counted and told.
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
    /// The frame behind the last block, and how often the engine was started anew: it counts from 0 each time.
    private var last: Int64 = .min
    private var starts = 0
    /// The value of ``RunControls/Handle/run`` when the end of a run was told last.
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

    /// Takes a block.
    /// - Parameter now: of the first frame, at the queue's rate.
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
        // Once begun it goes on, also if the engine was started anew and counts from 0.
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

    /// Frames that the device never gave are a hole, and so is a new start of the engine: no buffer goes over them.
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

    /// A run has ended, though it may not have been seen: what was begun goes home.
    @_noLocks
    private mutating func finish(_ run: Int) {
        closeGap()
        if at > 0 { handOver() }
        ended = run
        records.push(QueueRecord(.stopped, position: 0 &- run))
        wakeup.wake()
    }
}
