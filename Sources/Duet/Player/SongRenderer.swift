// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A change of the song's playback at a host time.
package struct SongOrder: BitwiseCopyable, Hashable, Sendable {
    /// The ring frame to play from; negative for the one where the song stopped.
    package var ringFrame: Int
    /// False to stop.
    package var isPlaying: Bool
    /// The time at which the ring frame leaves the output converter, or the song ends there.
    package var hostTime: HostTime

    package static func start(ringFrame: Int, at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: ringFrame, isPlaying: true, hostTime: hostTime)
    }
    /// Stops, so that ``resume(at:)`` continues with the next frame.
    package static func stop(at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: -1, isPlaying: false, hostTime: hostTime)
    }
    package static func resume(at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: -1, isPlaying: true, hostTime: hostTime)
    }
}

/// The song on the playing render thread: adds frames of a ring to the output at their time, and records which frames they were.
/// It begins and ends without a fade.
///
/// The first frame leaves the converter at the order's time, to the nearest frame of the device; a rate that follows the shared
/// clock corrects the rest. Frames that the ring lacks are silent, and so are frames that the device skipped: the song stays in
/// its place, so an order that comes too late begins in mid-song.
package struct SongRenderer: ~Copyable {
    /// The skipped frames after which the song stops: another device's counter is no gap.
    private static var gapLimit: Int64 { @_noLocks get { 1 << 22 } }

    private let ring: AudioRing.Reader
    private let orders: MessageQueue<SongOrder>.Reader
    private let played: MessageQueue<PlayedBlock>.Writer
    private let block: Channels
    private let sampleRate: Double
    private var order: SongOrder?
    private var isPlaying = false
    /// The ring frame due next.
    private var ringFrame = 0
    /// The ring frames read or discarded.
    private var readCount = 0
    private var expectedSampleTime: Int64 = .min

    /// - Parameters:
    ///   - block: memory for ``IOCycle/maximumFrameCount`` frames with the channels of the ring.
    ///   - sampleRate: the device's nominal rate in hertz.
    package init(
        ring: AudioRing.Reader, orders: MessageQueue<SongOrder>.Reader, played: MessageQueue<PlayedBlock>.Writer,
        block: Channels, sampleRate: Double
    ) {
        self.ring = ring
        self.orders = orders
        self.played = played
        self.block = block
        self.sampleRate = sampleRate
    }

    /// Adds the song to a block. An order replaces one that is not due yet.
    @_noLocks
    package mutating func process(_ cycle: IOCycle) {
        followCounter(cycle)
        while let new = orders.pop() { order = new }
        var offset = 0
        if let due = order {
            let wait = (due.hostTime.seconds(since: cycle.hostTime) - cycle.outputLatency) * sampleRate
            let at = Int(truncatingIfNeeded: earshot_round(max(-1e9, min(1e9, wait))))
            if at < cycle.frameCount {
                offset = max(0, at)
                render(cycle, from: 0, offset)
                apply(due, late: offset &- at)
                order = nil
            }
        }
        render(cycle, from: offset, cycle.frameCount &- offset)
    }

    @_noLocks
    private mutating func followCounter(_ cycle: IOCycle) {
        if isPlaying, expectedSampleTime != .min {
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
    private mutating func apply(_ order: SongOrder, late: Int) {
        if order.ringFrame >= 0 { ringFrame = order.ringFrame }
        // A stop that comes late has its frames played already.
        // A resume of a song that plays changes nothing.
        if order.isPlaying, order.ringFrame >= 0 || !isPlaying { ringFrame = ringFrame &+ late }
        isPlaying = order.isPlaying
    }

    @_noLocks
    private mutating func render(_ cycle: IOCycle, from offset: Int, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        guard isPlaying else { return record(cycle, offset, frameCount, silence: .stopped) }
        readCount = readCount &+ ring.discard(max(0, ringFrame &- readCount))
        // Frames before the present one may be due again after a resume; they are gone.
        let isInPlace = readCount == ringFrame
        let count = isInPlace ? ring.read(block, frameCount: frameCount).frameCount : 0
        if count > 0 {
            for c in 0..<min(cycle.output.count, block.count) {
                addSamples(cycle.output[c] + offset, block[c], count, gain: 1)
            }
            record(cycle, offset, count, silence: nil)
        }
        readCount = readCount &+ count
        ringFrame = ringFrame &+ count
        if count < frameCount {
            record(cycle, offset &+ count, frameCount &- count, silence: .underrun)
            ringFrame = ringFrame &+ (frameCount &- count)
        }
    }

    @_noLocks
    private func record(_ cycle: IOCycle, _ offset: Int, _ frameCount: Int, silence: SongGapReason?) {
        played.push(
            PlayedBlock(
                DeviceBlock(
                    sampleTime: cycle.sampleTime, frameCount: cycle.frameCount, hostTime: cycle.hostTime,
                    latency: cycle.outputLatency),
                offset: offset, frameCount: frameCount, ringFrame: ringFrame, silence: silence))
    }
}
