// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine

/// Plays buffers one after the other, on the render thread, and returns each after its last frame.
struct OutputQueueState: ~Copyable {
    private let incoming: MessageQueue<QueuedBuffer>.Reader
    private let handedBack: MessageQueue<Int>.Writer
    private let records: MessageQueue<QueueRecord>.Writer
    private let controls: RunControls.Handle
    private let wakeup: Wakeup.Handle
    private let isVarispeed: Bool
    private var resampler: Resampler
    private var step = 1.0
    private var current: QueuedBuffer
    private var hasCurrent = false
    /// The number of frames of the current buffer that were played.
    private var playedFrameCount = 0
    private var fade: EdgeFade
    /// True if the last sound was faded out in the middle, so that the next sound must fade in.
    private var isInterrupted = false
    /// The run that the render thread renders; 0 for none.
    private var activeRun = 0
    private var announcedRun = 0
    private var position = 0
    private var gapFrameCount = 0
    private var gapStart: Int64 = 0
    private var lastReturnedSequence = 0

    init(
        incoming: MessageQueue<QueuedBuffer>.Reader, handedBack: MessageQueue<Int>.Writer,
        records: MessageQueue<QueueRecord>.Writer, controls: RunControls.Handle, wakeup: Wakeup.Handle,
        format: AudioFormat, isVarispeed: Bool
    ) {
        self.incoming = incoming
        self.handedBack = handedBack
        self.records = records
        self.controls = controls
        self.wakeup = wakeup
        self.isVarispeed = isVarispeed
        fade = EdgeFade(sampleRate: format.sampleRate)
        resampler = Resampler(
            from: format.sampleRate, to: format.sampleRate, channelCount: format.channelCount,
            quality: .steerable(halfLength: isVarispeed ? 32 : 8), maximumFrameCount: Self.pieceLength,
            excess: isVarispeed ? 2 * Self.pieceLength : 0)
        current = QueuedBuffer(samples: resampler.input, frameCount: 0, id: 0, sequence: 0, start: .min)
    }

    private static var pieceLength: Int { @_noLocks get { 256 } }

    /// Renders a block, with silence where there is no sound.
    /// - Parameter time: the time of the block's first frame, at the queue's rate.
    @_noLocks
    mutating func render(_ time: Int64, _ frameCount: Int, _ output: Channels) {
        guard isVarispeed else { return pull(output, 0, frameCount, time) }
        let rate = controls.rate
        let wantedStep = rate > 0 ? Double(rate) * 0x1p-32 : 1
        var done = 0
        while done < frameCount {
            var count = frameCount &- done < Self.pieceLength ? frameCount &- done : Self.pieceLength
            // The rate changes by at most 1/64 in 16 frames, because a sudden change of pitch is audible.
            let difference = wantedStep - step
            if difference != 0 {
                if count > 16 { count = 16 }
                step = difference > 0x1p-6 ? step + 0x1p-6 : difference < -0x1p-6 ? step - 0x1p-6 : wantedStep
                resampler.step = step
            }
            let needed = resampler.inputNeeded(for: count)
            pull(resampler.input, resampler.inputOffset, needed, time &+ Int64(done))
            resampler.render(output, frameCount: count, offset: done, adding: needed)
            done &+= count
        }
    }

    @_noLocks
    private mutating func pull(_ output: Channels, _ offset: Int, _ frameCount: Int, _ time: Int64) {
        var done = 0
        var run = controls.run
        if run != 0 { activeRun = run }
        while done < frameCount {
            done &+= step(output, offset &+ done, frameCount &- done, time &+ Int64(done), &run)
        }
    }

    /// Renders at most `room` frames. Returns the number of frames rendered, which may be 0.
    @_noLocks
    private mutating func step(
        _ output: Channels, _ offset: Int, _ room: Int, _ time: Int64, _ run: inout Int
    ) -> Int {
        takeNext()
        let isStale = hasCurrent && current.sequence <= controls.flushed
        // A run that has begun continues even if the engine was started again and counts from 0.
        let sounds = run != 0 && !isStale && (announcedRun == run || time >= controls.start)
        if !sounds, fade.isSilent { return renderIdle(output, offset, room, time, run, isStale) }
        guard hasCurrent else {
            if !sounds {
                fade.silence()
                return 0
            }
            if lastReturnedSequence >= controls.end {
                finish(run)
                run = 0
                return 0
            }
            return miss(output, offset, room, time)
        }
        if fade.isSilent {
            fade.begin(inMidst: isInterrupted)
            isInterrupted = false
        }
        if playedFrameCount == 0, current.start != .min, sounds {
            if current.start > time {
                let wait = current.start &- time
                return silence(output, offset, wait < Int64(room) ? Int(wait) : room, time)
            }
            skipLate(time)
            if !hasCurrent { return 0 }
        }
        return play(output, offset, room, time, sounds, run)
    }

    /// Renders while nothing is heard: returns revoked buffers, ends a run, and waits for the start of the next.
    @_noLocks
    private mutating func renderIdle(
        _ output: Channels, _ offset: Int, _ room: Int, _ time: Int64, _ run: Int, _ isStale: Bool
    ) -> Int {
        if isStale {
            isInterrupted = false
            handBack()
            return 0
        }
        closeGap()
        if run == 0 {
            if activeRun != 0 { finish(activeRun) }
            return silence(output, offset, room, time)
        }
        let wait = controls.start &- time
        if wait > 0 { return silence(output, offset, wait < Int64(room) ? Int(wait) : room, time) }
        fade.begin(inMidst: isInterrupted)
        isInterrupted = false
        return 0
    }

    @_noLocks
    private mutating func play(
        _ output: Channels, _ offset: Int, _ room: Int, _ time: Int64, _ sounds: Bool, _ run: Int
    ) -> Int {
        closeGap()
        if run != 0, announcedRun != run {
            announcedRun = run
            records.push(QueueRecord(.started, time: time))
        }
        var count = current.frameCount &- playedFrameCount
        if count > room { count = room }
        if !sounds, count > fade.level { count = fade.level }
        for c in 0..<output.count { copySamples(output[c] + offset, current.samples[c] + playedFrameCount, count) }
        fade.scale(output, from: offset, frameCount: count, rising: sounds)
        playedFrameCount &+= count
        position &+= count
        controls.add(count, to: .played)
        controls.report(sequence: current.sequence, frame: playedFrameCount)
        if !sounds, fade.isSilent { isInterrupted = true }
        if playedFrameCount >= current.frameCount { handBack() }
        return count
    }

    /// Skips overdue frames, so that the remaining frames are in time.
    @_noLocks
    private mutating func skipLate(_ time: Int64) {
        let late = time &- current.start
        current.start = .min
        guard late > 0 else { return }
        let count = late < Int64(current.frameCount) ? Int(late) : current.frameCount
        records.push(QueueRecord(.late, time: time &- late, frameCount: count, position: position))
        controls.add(count, to: .late)
        playedFrameCount = count
        if playedFrameCount >= current.frameCount { handBack() }
    }

    @_noLocks
    private mutating func miss(_ output: Channels, _ offset: Int, _ room: Int, _ time: Int64) -> Int {
        if gapFrameCount == 0 { gapStart = time }
        gapFrameCount &+= room
        controls.add(room, to: .underrun)
        return silence(output, offset, room, time)
    }

    @_noLocks
    private mutating func silence(_ output: Channels, _ offset: Int, _ count: Int, _ time: Int64) -> Int {
        for c in 0..<output.count { clearSamples(output[c] + offset, count) }
        return count
    }

    @_noLocks
    private mutating func closeGap() {
        guard gapFrameCount > 0 else { return }
        records.push(QueueRecord(.underrun, time: gapStart, frameCount: gapFrameCount, position: position))
        gapFrameCount = 0
    }

    @_noLocks
    private mutating func finish(_ run: Int) {
        closeGap()
        controls.endRun(run)
        activeRun = 0
        fade.silence()
        records.push(QueueRecord(.stopped, position: run))
        wakeup.wake()
    }

    @_noLocks
    private mutating func takeNext() {
        guard !hasCurrent, let next = incoming.pop() else { return }
        current = next
        current.start = controls.frame(next.start)
        hasCurrent = true
        playedFrameCount = 0
    }

    @_noLocks
    private mutating func handBack() {
        handedBack.push(current.id)
        lastReturnedSequence = current.sequence
        hasCurrent = false
        wakeup.wake()
    }
}
