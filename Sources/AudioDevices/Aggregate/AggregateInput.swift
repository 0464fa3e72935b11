// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The input device's side of an aggregate: writes captured frames, and their time, to a ring.
struct AggregateInput: ~Copyable {
    /// The relation between positions in the ring and times.
    struct Mapping: BitwiseCopyable, Sendable {
        /// The ring's position after the newest frame; 0 before the first callback.
        var position = 0
        /// The time at which the frame at `position` passes the input converter.
        var hostTime = HostTime(nanoseconds: 0)
        var secondsPerFrame = 0.0
        /// The maximum seconds so far from a frame's passage through the converter to its arrival in the ring, without jitter.
        var longestLatency = 0.0
    }

    let ring: AudioRing.Writer
    let mapping: LatestValue<Mapping>.Writer
    private let frameLimit = IOCycle.maximumFrameCount  // unoptimised, a static is initialised behind a lock
    var newest = Mapping()
    var loop: DelayLockedLoop

    init(
        ring: AudioRing.Writer, mapping: LatestValue<Mapping>.Writer, sampleRate: Double, latency: Double
    ) {
        self.ring = ring
        self.mapping = mapping
        loop = DelayLockedLoop(sampleRate: sampleRate)
        newest.longestLatency = latency
    }

    /// Forgets the input's clock; the ring keeps its positions. Call it while no callback runs.
    mutating func reset() {
        loop.reset()
        newest.hostTime = HostTime(nanoseconds: .min / 2)
        mapping.store(newest)
    }

    /// Captures a cycle, on the input device's thread.
    @_noLocks
    mutating func capture(_ cycle: IOCycle) {
        guard cycle.frameCount > 0 else { return }
        let frames = min(cycle.frameCount, frameLimit)
        if cycle.input.count > 0 { ring.write(cycle.input, frameCount: frames) } else { ring.skip(frames) }
        // The time at which the frame after this block passes the converter, as exact as the cycle's own time.
        let captured = cycle.hostTime.advanced(
            bySeconds: Double(frames) * loop.secondsPerFrame - cycle.inputLatency)
        newest.hostTime = loop.update(sampleTime: cycle.sampleTime &+ Int64(frames), now: captured)
        newest.secondsPerFrame = loop.secondsPerFrame
        newest.position &+= frames
        newest.longestLatency = max(newest.longestLatency, cycle.inputLatency)
        mapping.store(newest)
    }
}

/// The callback of an input device; the context is an `AggregateInput`.
@_noLocks
func aggregateCapture(_ context: UnsafeMutableRawPointer?, _ cycle: UnsafeRawPointer?) {
    guard let state = context?.assumingMemoryBound(to: AggregateInput.self),
        let cycle = cycle?.assumingMemoryBound(to: IOCycle.self)
    else { return }
    state.pointee.capture(cycle.pointee)
}
