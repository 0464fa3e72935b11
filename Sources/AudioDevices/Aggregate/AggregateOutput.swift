// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The output device's side of an aggregate: its cycle is the client's cycle, with input resampled from the input device's clock.
///
/// For each cycle both clocks tell which captured frame must be played at which time for a constant ``delay`` between the
/// converters. The resampler's step is the ratio of both measured rates, corrected by the present error. A difference of more
/// than 3 ms, after an xrun or a stall, is corrected at once: frames are dropped, or silence is played until the frame's time has
/// come.
struct AggregateOutput: ~Copyable {
    /// The values that other threads read.
    struct Shared: ~Copyable {
        let dropped = Atomic<Int>(0)
        let inserted = Atomic<Int>(0)
        let underruns = Atomic<Int>(0)
        let isLocked = Atomic<Bool>(false)
        let delay = Atomic<Int>(0)  // nanoseconds
    }

    let ring: AudioRing.Reader
    /// The relation between the ring's positions and the times of the input's converter.
    let mapping: LatestValue<AggregateInput.Mapping>.Reader
    let input: Channels
    let shared: UnsafeMutablePointer<Shared>
    let nominalStep: Double
    let inputRate: Double
    var client: RenderCallback?
    var resampler: Resampler
    var loop: DelayLockedLoop
    /// The seconds that sound takes from the input converter to the output converter. The delay only grows: with longer blocks,
    /// or when callbacks are later than ``margin`` allows.
    var delay = 0.0
    /// The seconds by which a callback may be late without an underrun.
    var margin = Self.firstMargin
    var isLocked = false
    var wasLocked = false  // since the start
    var position = 0  // the ring position of the frame that goes into the resampler next
    var lastUnderrun = HostTime(nanoseconds: .min / 2)
    var fade = 0  // frames since the input came back
    var longestOutput = 0.0  // seconds from a cycle's start until its last frame is played

    static let firstMargin = 0.002
    // Instance constants: in debug builds a static one is initialized with a lock.
    private let frameLimit = IOCycle.maximumFrameCount
    private let largestMargin = 0.1  // seconds
    private let tolerance = 0.003  // seconds
    private let settling = 0.4  // seconds
    private let fadeLength = 64  // frames

    init(
        ring: AudioRing.Reader, mapping: LatestValue<AggregateInput.Mapping>.Reader, input: Channels,
        inputRate: Double, outputRate: Double, longestOutput: Double
    ) {
        self.ring = ring
        self.mapping = mapping
        self.input = input
        self.inputRate = inputRate
        self.longestOutput = longestOutput
        nominalStep = inputRate / outputRate
        resampler = Resampler(
            from: inputRate, to: outputRate, channelCount: input.count,
            maximumFrameCount: IOCycle.maximumFrameCount)
        loop = DelayLockedLoop(sampleRate: outputRate)
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared())
    }

    deinit {
        shared.deinitialize(count: 1)
        shared.deallocate()
    }

    /// Forgets the output's clock; the input is silent until both clocks are known. Call it while no callback runs.
    mutating func reset() {
        loop.reset()
        isLocked = false
        wasLocked = false
        lastUnderrun = HostTime(nanoseconds: .min / 2)
        shared.pointee.isLocked.store(false, ordering: .relaxed)
    }

    /// Renders a cycle, on the output device's thread.
    @_noLocks
    mutating func render(_ cycle: inout IOCycle) {
        let frames = min(cycle.frameCount, frameLimit)
        for c in 0..<input.count { clearSamples(input[c], frames) }
        let played = loop.update(
            sampleTime: cycle.sampleTime, now: cycle.hostTime.advanced(bySeconds: cycle.outputLatency))
        let clock = mapping.load()
        if frames > 0, clock.position > 0 { read(frames, cycle, playedAt: played, clock) }
        var clientCycle = IOCycle(
            frameCount: frames, sampleTime: cycle.sampleTime, hostTime: cycle.hostTime,
            inputLatency: delay - cycle.outputLatency, outputLatency: cycle.outputLatency, input: input,
            output: cycle.output)
        client?(&clientCycle)
    }

    @_noLocks
    private mutating func read(
        _ frames: Int, _ cycle: IOCycle, playedAt played: HostTime, _ clock: AggregateInput.Mapping
    ) {
        let ownRate = 1 / loop.secondsPerFrame
        longestOutput = max(longestOutput, cycle.outputLatency + Double(frames) / ownRate)
        require(clock)
        // The frames between the frame to be played at the time `played` and the newest frame in the ring.
        let behind = (clock.hostTime.seconds(since: played) + delay) / clock.secondsPerFrame
        guard behind > -1e9, behind < 1e9 else { return unlock() }
        if isLocked {
            let error = Double(clock.position &- position) + resampler.heldFrames - behind
            if abs(error) > tolerance * inputRate {
                unlock()
            } else {
                // The ratio of both measured rates. A lag is corrected by reading the input slightly faster.
                let follow = error * clock.secondsPerFrame / settling
                resampler.step =
                    loop.secondsPerFrame / clock.secondsPerFrame * (1 + max(-0.005, min(0.005, follow)))
            }
        }
        if !isLocked {
            lock(to: clock.position &- Int(earshot_round(behind)), step: loop.secondsPerFrame / clock.secondsPerFrame)
        }
        guard isLocked else {
            if wasLocked { shared.pointee.inserted.wrappingAdd(frames, ordering: .relaxed) }
            return
        }
        let needed = resampler.inputNeeded(for: frames)
        let ringFrameCount = ring.heldFrames
        if ringFrameCount < needed {
            noteUnderrun(at: cycle.hostTime)
            return drain(frames, ringFrameCount: ringFrameCount)
        }
        let slice = ring.read(resampler.input, frameCount: needed, offset: resampler.inputOffset)
        guard slice.position == position, slice.frameCount == needed else { return unlock() }
        position &+= needed
        resampler.render(input, frameCount: frames, adding: needed)
        fadeIn(frames)
    }

    /// Increases the delay if both devices' latencies, the filter and the margin require more.
    @_noLocks
    private mutating func require(_ clock: AggregateInput.Mapping) {
        let filter = Double(resampler.halfLength &+ 2) / inputRate
        let needed = clock.longestLatency + longestOutput + filter + margin
        guard needed > delay else { return }
        delay = needed
        shared.pointee.delay.store(Int(needed * 1e9), ordering: .relaxed)
    }

    /// Continues with the frame at a position of the ring, and drops earlier frames. Stays unlocked while the ring does not
    /// contain that frame.
    @_noLocks
    private mutating func lock(to first: Int, step: Double) {
        let next = ring.read(input, frameCount: 0, holdingAtMost: .max &- 1).position
        let ringFrameCount = ring.heldFrames
        guard first >= next else { return }
        let excess = first &- next
        let afterDrop = ring.read(input, frameCount: 0, holdingAtMost: max(0, ringFrameCount &- excess)).position
        if wasLocked { shared.pointee.dropped.wrappingAdd(max(0, afterDrop &- next), ordering: .relaxed) }
        guard afterDrop == first, ring.heldFrames > 0 else { return }
        position = first
        resampler.reset()
        resampler.step = step
        isLocked = true
        wasLocked = true
        fade = 0
        shared.pointee.isLocked.store(true, ordering: .relaxed)
    }

    @_noLocks
    private mutating func unlock() {
        isLocked = false
        shared.pointee.isLocked.store(false, ordering: .relaxed)
    }

    /// Renders the input that remains in the ring with a fade-out; silence follows until the next lock.
    @_noLocks
    private mutating func drain(_ frames: Int, ringFrameCount: Int) {
        let count = min(frames, resampler.outputAvailable(afterAdding: ringFrameCount))
        let slice = ring.read(resampler.input, frameCount: ringFrameCount, offset: resampler.inputOffset)
        if count > 0, slice.frameCount == ringFrameCount {
            resampler.render(input, frameCount: count, adding: ringFrameCount)
            fadeIn(count)
            let length = min(count, fadeLength)
            for c in 0..<input.count {
                for i in 0..<length { input[c][count &- 1 &- i] *= Float(i) / Float(length) }
            }
        }
        shared.pointee.inserted.wrappingAdd(frames &- max(0, count), ordering: .relaxed)
        unlock()
    }

    @_noLocks
    private mutating func fadeIn(_ frames: Int) {
        guard fade < fadeLength else { return }
        let length = min(frames, fadeLength &- fade)
        for c in 0..<input.count {
            for i in 0..<length { input[c][i] *= Float(fade &+ i) / Float(fadeLength) }
        }
        fade &+= length
    }

    /// Notes a cycle with too little input. A single one means that the input stalled. A second one within 10 s means that
    /// callbacks are later than the margin allows, so the margin grows.
    @_noLocks
    private mutating func noteUnderrun(at time: HostTime) {
        shared.pointee.underruns.wrappingAdd(1, ordering: .relaxed)
        if time.seconds(since: lastUnderrun) < 10 { margin = min(largestMargin, margin + 0.001) }
        lastUnderrun = time
    }
}

/// The callback of an output device; the context is an `AggregateOutput`.
@_noLocks
func aggregateRender(_ context: UnsafeMutableRawPointer?, _ cycle: UnsafeRawPointer?) {
    guard let state = context?.assumingMemoryBound(to: AggregateOutput.self),
        let cycle = cycle?.assumingMemoryBound(to: IOCycle.self)
    else { return }
    var own = cycle.pointee
    state.pointee.render(&own)
}
