// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

extension SimulatedCard {
    /// The state of a card's cycles, in memory that does not move.
    struct State: ~Copyable {
        let recorder: CallbackMonitor.Recorder
        let wiring: Wiring.View
        let timeline: Timeline
        let source: AudioRing.Reader?
        let sink: AudioRing.Writer?
        let blocks: UnsafeMutablePointer<Int>  // the frames of each block of the repeated pattern
        let blockCount: Int
        let longestBlock: Int
        let sampleRate: Double
        let startTime = Atomic<Int64>(.min)
        let starved = Atomic<Int>(0)
        /// The card's frame at which the source begins; `.min` for the first one, `.max` until the loudspeaker has a sound.
        var sourceStart: Int64
        var hasRings = true
        var ringSlack = RingMarks(source: 0, sink: 0)  // nanoseconds by which the rings are off their frames' times
        var block = 0  // the index in `blocks` of the block that is due next, or runs
        var sampleTime: Int64 = 0  // the card's frame counter at that block's first frame
        var offset = 0.0  // seconds from that block's due time to its callback
        var jitter: JitterSource
        var loop: DelayLockedLoop

        init(configuration: Configuration, recorder: CallbackMonitor.Recorder, wiring: Wiring.View) {
            self.recorder = recorder
            self.wiring = wiring
            source = configuration.source?.reader
            sink = configuration.sink?.writer
            sourceStart = configuration.sourceFollowsSound ? .max : .min
            let blockFrameCounts =
                configuration.blockFrameCounts.isEmpty
                ? [configuration.blockFrameCount] : configuration.blockFrameCounts
            self.blocks = .allocate(capacity: blockFrameCounts.count)
            self.blocks.initialize(from: blockFrameCounts, count: blockFrameCounts.count)
            blockCount = blockFrameCounts.count
            longestBlock = configuration.longestBlock
            sampleRate = configuration.sampleRate
            timeline = Timeline(
                configuration.script, sampleRate: configuration.sampleRate, driftPPM: configuration.driftPPM)
            jitter = JitterSource(configuration.jitter, seed: configuration.seed)
            loop = DelayLockedLoop(sampleRate: configuration.sampleRate)
        }

        deinit {
            blocks.deallocate()
            timeline.deallocate()
            jitter.deallocate()
        }
    }

    /// Drives the card: `start`, then for each cycle `beginCycle`, the callback, `endCycle`. For one thread; every method is safe
    /// on the render thread.
    package struct Renderer: @unchecked Sendable {  // one thread drives it, by contract; what others read is atomic
        let state: UnsafeMutablePointer<State>

        init(_ state: consuming State) {
            self.state = .allocate(capacity: 1)
            self.state.initialize(to: state)
        }

        func deallocate() {
            state.deinitialize(count: 1)
            state.deallocate()
        }

        /// Starts the callbacks and the script; `time` is the T0 of ``SimulatedCard``.
        @_noLocks
        package func start(at time: HostTime) { start(at: time, usingRings: true, RingMarks()) }

        /// - Parameter left: the positions at which the previous device on the card left the rings.
        @_noLocks
        func start(at time: HostTime, usingRings: Bool, _ left: RingMarks) {
            state.pointee.hasRings = usingRings
            // Sound that has begun goes on.
            if state.pointee.sourceStart != .max { state.pointee.sourceStart = .min }
            state.pointee.block = 0
            state.pointee.sampleTime = 0
            state.pointee.offset = state.pointee.jitter.next()
            state.pointee.loop.reset()
            state.pointee.startTime.store(time.nanoseconds, ordering: .releasing)
            if usingRings { catchUp(left) }
        }

        /// The time of the next callback: its due time with jitter, and not before the end of a stall. A card that has vanished
        /// by then makes no callback.
        package var nextCallTime: HostTime {
            @_noLocks get {
                let start = state.pointee.startTime.load(ordering: .relaxed)
                let time = dueTime.advanced(bySeconds: state.pointee.offset).nanoseconds &- start
                return HostTime(nanoseconds: start &+ state.pointee.timeline.callTime(time))
            }
        }

        /// The time at which the card vanishes; nil if its script does not contain it.
        package var vanishingTime: HostTime? {
            @_noLocks get {
                let vanishing = state.pointee.timeline.vanishing
                guard vanishing != .max else { return nil }
                return HostTime(nanoseconds: state.pointee.startTime.load(ordering: .relaxed) &+ vanishing)
            }
        }

        /// Skips the periods that can no longer be served, and returns the cycle of the first period that can.
        /// - Parameter now: the present time, not before ``nextCallTime``.
        @_noLocks
        package func beginCycle(at now: HostTime) -> IOCycle {
            if now >= nextDueTime {
                state.pointee.recorder.xrun(at: now)
                skipPeriods(until: now)
            }
            let (frames, sampleTime) = (frameCount, state.pointee.sampleTime)
            capture(frames)
            for c in 0..<state.pointee.wiring.output.count { clearSamples(state.pointee.wiring.output[c], frames) }
            let due =
                state.pointee.jitter.isNone
                ? dueTime : state.pointee.loop.update(sampleTime: sampleTime &+ Int64(frames), now: now)
            state.pointee.recorder.begin(frameCount: frames, due: due, now: now)
            var cycle = IOCycle(
                frameCount: frames, sampleTime: sampleTime, hostTime: due,
                inputLatency: Double(frames) / state.pointee.sampleRate,
                outputLatency: Double(2 &* state.pointee.longestBlock &- frames) / state.pointee.sampleRate,
                input: state.pointee.wiring.input, output: state.pointee.wiring.output)
            cycle.lateness = state.pointee.jitter.isNone ? 0 : now.seconds(since: due)
            return cycle
        }

        /// Ends a cycle: plays the rendered block, or silence if the block is too late.
        @_noLocks
        package func endCycle(at now: HostTime) {
            state.pointee.recorder.end(now: now)
            if now > nextDueTime {
                state.pointee.recorder.xrun(at: now)
                play(state.pointee.wiring.silence)
                advance()
                skipPeriods(until: now)
            } else {
                state.pointee.wiring.mix(frameCount)
                play(state.pointee.wiring.played)
                advance()
            }
            state.pointee.offset = state.pointee.jitter.next()
        }

        /// Runs a cycle with the callback, on the machine's clock.
        @_noLocks
        func runCycle(_ callback: RenderCallback) {
            earshot_realtime_enter()
            var cycle = beginCycle(at: .now())
            callback(&cycle)
            endCycle(at: .now())
            earshot_realtime_exit()
        }

        /// Returns the time at which a frame of the card's counter passes the input converter.
        @_noLocks
        func time(ofFrame frame: Int64) -> HostTime {
            HostTime(nanoseconds: state.pointee.startTime.load(ordering: .relaxed))
                .advanced(bySeconds: state.pointee.timeline.seconds(atFrame: Double(frame)))
        }

        private var frameCount: Int { @_noLocks get { state.pointee.blocks[state.pointee.block] } }

        private var nextFrameCount: Int {
            @_noLocks get {
                let next = state.pointee.block &+ 1
                return state.pointee.blocks[next == state.pointee.blockCount ? 0 : next]
            }
        }

        private var dueTime: HostTime {
            @_noLocks get { time(ofFrame: state.pointee.sampleTime &+ Int64(frameCount)) }
        }

        private var nextDueTime: HostTime {
            @_noLocks get { time(ofFrame: state.pointee.sampleTime &+ Int64(frameCount &+ nextFrameCount)) }
        }

        @_noLocks
        private func advance() {
            state.pointee.sampleTime &+= Int64(frameCount)
            state.pointee.block &+= 1
            if state.pointee.block == state.pointee.blockCount { state.pointee.block = 0 }
        }

        /// Skips each period whose successor is already due.
        @_noLocks
        private func skipPeriods(until now: HostTime) {
            while now >= nextDueTime {
                capture(frameCount)
                play(state.pointee.wiring.silence)
                state.pointee.recorder.skip(frameCount)
                advance()
            }
        }

        @_noLocks
        private func capture(_ frames: Int) {
            let input = state.pointee.wiring.captured
            for c in 0..<input.count { clearSamples(input[c], frames) }
            guard input.count > 0, state.pointee.hasRings, let source = state.pointee.source else { return }
            let (first, start) = (state.pointee.sampleTime, state.pointee.sourceStart)
            let wait = max(0, min(Int64(frames), start == .min ? 0 : start &- first))
            let offset = Int(truncatingIfNeeded: wait)
            // A quiet room: digital silence would be a microphone that is switched off.
            for c in 0..<input.count { for i in 0..<offset { input[c][i] = i & 1 == 0 ? 1e-5 : -1e-5 } }
            guard offset < frames else { return }
            let count = source.read(input, frameCount: frames &- offset, offset: offset).frameCount
            if count < frames &- offset {
                state.pointee.starved.wrappingAdd(frames &- offset &- count, ordering: .relaxed)
            }
        }

        /// Lets the source begin with the first sound of a block that is about to be played.
        @_noLocks
        private func noteSound(_ channels: Channels) {
            guard state.pointee.sourceStart == .max, channels.count > 0 else { return }
            for i in 0..<frameCount where abs(channels[0][i]) > 0.001 {
                // A rendered frame leaves its converter two blocks after the captured frame of this number.
                let ahead = Int64(i &+ 2 &* state.pointee.longestBlock)
                state.pointee.sourceStart = state.pointee.sampleTime &+ ahead
                return
            }
        }

        @_noLocks
        private func play(_ channels: Channels) {
            noteSound(channels)
            guard channels.count > 0, state.pointee.hasRings, let sink = state.pointee.sink else { return }
            sink.write(channels, frameCount: frameCount)
        }
    }
}
