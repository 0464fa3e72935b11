// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// The song on the playing render thread: adds frames of a ring to the output at their time, and records which frames they were.
///
/// The first frame leaves the converter at the order's time, to the nearest frame of the device; a rate that follows the shared
/// clock corrects the rest. Frames that the ring lacks are silent, and so are frames that the device skipped: the song stays in
/// its place, so a late order begins in mid-song.
///
/// The song fades in after each silence and out before it, within its own frames. An order that comes too late for the fade-out
/// takes effect after the fade-out. A second jump that is ordered before the first one is due silences the song until its own time:
/// the ring has no room for the sound of both.
package struct SongRenderer: ~Copyable {
    /// The skipped frames after which the song stops: another device's counter is no gap.
    private static var gapLimit: Int64 { @_noLocks get { 1 << 22 } }

    private let ring: AudioRing.Reader
    private let orders: MessageQueue<SongOrder>.Reader
    private let played: MessageQueue<PlayedBlock>.Writer
    private let end: LatestValue<Int>.Reader
    private let isAudible: LatestValue<Bool>.Reader
    /// The level of a song that fades to or from silence, 0 to 1.
    private var level: Float = 1
    private let block: Channels
    private let sampleRate: Double
    private var fade: SongFade
    /// The order that is not due yet.
    private var order: SongOrder?
    /// True until the song is silent because a second jump waits.
    private var isMakingRoom = false
    private var isPlaying = false
    /// The ring frame due next.
    private var ringFrame = 0
    /// The ring frames read or discarded.
    private var readCount = 0
    private var expectedSampleTime: Int64 = .min

    /// - Parameters:
    ///   - end: the ring frame after the song's last one; negative while it is not written.
    ///   - isAudible: false while the song is silent.
    ///   - block: memory for ``IOCycle/maximumFrameCount`` frames with the channels of the ring.
    ///   - sampleRate: the device's nominal rate in hertz.
    init(
        ring: AudioRing.Reader, orders: MessageQueue<SongOrder>.Reader, played: MessageQueue<PlayedBlock>.Writer,
        end: LatestValue<Int>.Reader, isAudible: LatestValue<Bool>.Reader, block: Channels, sampleRate: Double
    ) {
        self.ring = ring
        self.orders = orders
        self.played = played
        self.end = end
        self.isAudible = isAudible
        self.block = block
        self.sampleRate = sampleRate
        fade = SongFade(sampleRate: sampleRate)
    }

    /// Copies the input to the output, and adds the song. An order replaces one that is not due yet.
    @_noLocks
    package mutating func process(_ cycle: IOCycle) {
        for c in 0..<min(cycle.output.count, cycle.input.count) {
            copySamples(cycle.output[c], cycle.input[c], cycle.frameCount)
        }
        followCounter(cycle)
        takeOrders()
        var offset = 0
        while offset < cycle.frameCount {
            let remaining = framesUntilChange(cycle, offset)
            let count = min(remaining, cycle.frameCount &- offset)
            render(cycle, from: offset, count, remaining: remaining)
            offset = offset &+ count
            if offset < cycle.frameCount { change(cycle, offset) }
        }
    }

    @_noLocks
    private mutating func followCounter(_ cycle: IOCycle) {
        if isPlaying, expectedSampleTime != .min, cycle.sampleTime != expectedSampleTime {
            // The earlier sound has ended without a fade.
            fade.silence()
            let skippedCount = cycle.sampleTime &- expectedSampleTime
            if skippedCount >= 0, skippedCount < Self.gapLimit {
                ringFrame = ringFrame &+ Int(truncatingIfNeeded: skippedCount)
            } else {
                isPlaying = false
            }
        }
        expectedSampleTime = cycle.sampleTime &+ Int64(truncatingIfNeeded: cycle.frameCount)
    }

    @_noLocks
    private mutating func takeOrders() {
        while var new = orders.pop() {
            let waitingFrame = order?.ringFrame ?? -1
            if new.ringFrame < 0 {
                // The new order makes the jump that waited.
                new.ringFrame = waitingFrame
            } else if waitingFrame >= 0 {
                isMakingRoom = isPlaying
            }
            // A resume of a song that plays changes nothing.
            order = new.isPlaying && new.ringFrame < 0 && isPlaying ? nil : new
        }
    }

    /// Returns the frames from a frame of the block until the song stops or jumps.
    @_noLocks
    private func framesUntilChange(_ cycle: IOCycle, _ offset: Int) -> Int {
        let fadeOut = isPlaying ? fade.frameCountToSilence : 0
        if isMakingRoom { return fadeOut }
        guard case .some = order else { return .max }
        return max(fadeOut, framesUntilOrder(cycle) &- offset)
    }

    /// Returns the frame of the block at which the order is due; negative if it was due earlier.
    @_noLocks
    private func framesUntilOrder(_ cycle: IOCycle) -> Int {
        guard let order else { return .max }
        let wait = (order.hostTime.seconds(since: cycle.hostTime) - cycle.outputLatency) * sampleRate
        return Int(truncatingIfNeeded: earshot_round(max(-1e9, min(1e9, wait))))
    }

    /// Stops or jumps at a frame of the block.
    @_noLocks
    private mutating func change(_ cycle: IOCycle, _ offset: Int) {
        fade.silence()
        if isMakingRoom {
            isMakingRoom = false
            isPlaying = false
            return
        }
        guard let due = order else { return }
        let late = offset &- framesUntilOrder(cycle)
        order = nil
        if due.ringFrame >= 0 { ringFrame = due.ringFrame }
        // The frames before a late stop were played.
        if due.isPlaying { ringFrame = ringFrame &+ late }
        isPlaying = due.isPlaying
    }

    @_noLocks
    private mutating func render(_ cycle: IOCycle, from offset: Int, _ frameCount: Int, remaining: Int) {
        guard frameCount > 0 else { return }
        guard isPlaying else {
            // The frames before the next jump will not be played.
            let waitingFrame = order?.ringFrame ?? -1
            discard(before: waitingFrame >= 0 ? waitingFrame : ringFrame)
            return record(cycle, offset, frameCount, silence: .stopped)
        }
        discard(before: ringFrame)
        // A resume may need frames before the present one. The ring no longer has them.
        let available = readCount == ringFrame ? ring.heldFrames : 0
        let count = ring.read(block, frameCount: min(frameCount, available)).frameCount
        if count > 0 {
            fade.scale(block, count, remaining: min(available, remaining))
            scale(count)
            for c in 0..<min(cycle.output.count, block.count) {
                addSamples(cycle.output[c] + offset, block[c], count, gain: 1)
            }
            record(cycle, offset, count, silence: nil)
        }
        readCount = readCount &+ count
        ringFrame = ringFrame &+ count
        if count < frameCount { renderMissing(cycle, offset &+ count, frameCount &- count) }
    }

    /// Fades the song of the block to silence or back, as ``SongFade`` does.
    @_noLocks
    private mutating func scale(_ frameCount: Int) {
        let wanted: Float = isAudible.load() ? 1 : 0
        if level == 1, wanted == 1 { return }
        let step = 1 / Float(fade.length)
        for i in 0..<frameCount {
            level = wanted > level ? min(wanted, level + step) : max(wanted, level - step)
            let gain = smoothStep(level)
            for c in 0..<block.count { block[c][i] *= gain }
        }
    }

    /// Renders silence, after the song's end or because the ring lacks frames.
    @_noLocks
    private mutating func renderMissing(_ cycle: IOCycle, _ offset: Int, _ frameCount: Int) {
        fade.silence()
        let endFrame = end.load()
        if endFrame >= 0, ringFrame >= endFrame {
            isPlaying = false
            record(cycle, offset, frameCount, silence: .stopped)
        } else {
            record(cycle, offset, frameCount, silence: .underrun)
            ringFrame = ringFrame &+ frameCount
        }
    }

    @_noLocks
    private mutating func discard(before frame: Int) {
        if frame > readCount { readCount = readCount &+ ring.discard(frame &- readCount) }
    }

    @_noLocks
    private func record(_ cycle: IOCycle, _ offset: Int, _ frameCount: Int, silence: SongGapReason?) {
        played.push(
            PlayedBlock(
                DeviceBlock(
                    sampleTime: cycle.sampleTime, frameCount: cycle.frameCount, hostTime: cycle.hostTime,
                    latency: cycle.outputLatency, lateness: cycle.lateness),
                offset: offset, frameCount: frameCount, ringFrame: ringFrame, silence: silence))
    }
}
