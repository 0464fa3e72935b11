import AudioBase
import Synchronization

extension SimulatedCard {
    /// All that a cycle touches, in memory that does not move.
    struct State: ~Copyable {
        let configuration: Configuration
        let recorder: CallbackMonitor.Recorder
        let input: Channels
        let output: Channels
        let silence: Channels
        let nanosecondsPerBlock: Double
        let latency: Double
        let startTime = Atomic<Int64>(.min)
        let starved = Atomic<Int>(0)
        var call: Int64 = 1  // q: the call that is due next, or runs

        init(
            configuration: Configuration, recorder: CallbackMonitor.Recorder, input: Channels, output: Channels,
            silence: Channels
        ) {
            self.configuration = configuration
            self.recorder = recorder
            self.input = input
            self.output = output
            self.silence = silence
            nanosecondsPerBlock = 1e9 * Double(configuration.blockFrameCount) / configuration.trueSampleRate
            latency = Double(configuration.blockFrameCount) / configuration.sampleRate
        }
    }

    /// Drives the card: `start`, then for each cycle `beginCycle`, the callback, `endCycle`. One thread; every method is
    /// render-safe.
    public struct Renderer: @unchecked Sendable {  // one thread drives it, by contract; what others read is atomic
        let state: UnsafeMutablePointer<State>

        init(_ state: consuming State) {
            self.state = .allocate(capacity: 1)
            self.state.initialize(to: state)
        }

        func deallocate() {
            state.deinitialize(count: 1)
            state.deallocate()
        }

        /// Sets T0 and begins with the first call.
        @_noLocks
        public func start(at time: HostTime) {
            state.pointee.call = 1
            state.pointee.startTime.store(time.nanoseconds, ordering: .releasing)
        }

        /// When the next call is due.
        public var nextCallTime: HostTime { @_noLocks get { dueTime(of: state.pointee.call) } }

        /// Skips the periods that can no longer be served, and hands over the block of the latest that can.
        /// - Parameter now: not before ``nextCallTime``.
        @_noLocks
        public func beginCycle(at now: HostTime) -> IOCycle {
            if now >= dueTime(of: state.pointee.call &+ 1) {
                state.pointee.recorder.xrun(at: now)
                skipPeriods(until: now)
            }
            let frames = state.pointee.configuration.blockFrameCount
            let q = state.pointee.call
            capture(frames)
            for c in 0..<state.pointee.output.count { clearSamples(state.pointee.output[c], frames) }
            let due = dueTime(of: q)
            state.pointee.recorder.begin(frameCount: frames, due: due, now: now)
            return IOCycle(
                frameCount: frames, sampleTime: (q &- 1) &* Int64(frames), hostTime: due,
                inputLatency: state.pointee.latency, outputLatency: state.pointee.latency, input: state.pointee.input,
                output: state.pointee.output)
        }

        /// Sends what was rendered to the loudspeaker, or silence where it came too late.
        @_noLocks
        public func endCycle(at now: HostTime) {
            state.pointee.recorder.end(now: now)
            if now > dueTime(of: state.pointee.call &+ 1) {
                state.pointee.recorder.xrun(at: now)
                play(state.pointee.silence)
                state.pointee.call &+= 1
                skipPeriods(until: now)
            } else {
                play(state.pointee.output)
                state.pointee.call &+= 1
            }
        }

        /// A whole cycle with the callback between, on the machine's clock.
        @_noLocks
        func runCycle(_ callback: RenderCallback) {
            var cycle = beginCycle(at: .now())
            callback(&cycle)
            endCycle(at: .now())
        }

        /// Each due time is computed anew from T0, so nothing adds up.
        @_noLocks
        private func dueTime(of call: Int64) -> HostTime {
            HostTime(nanoseconds: state.pointee.startTime.load(ordering: .relaxed))
                .advanced(bySeconds: Double(call) * state.pointee.nanosecondsPerBlock * 1e-9)
        }

        /// Leaves out each call whose successor is due already.
        @_noLocks
        private func skipPeriods(until now: HostTime) {
            let frames = state.pointee.configuration.blockFrameCount
            while now >= dueTime(of: state.pointee.call &+ 1) {
                capture(frames)
                play(state.pointee.silence)
                state.pointee.recorder.skip(frames)
                state.pointee.call &+= 1
            }
        }

        @_noLocks
        private func capture(_ frames: Int) {
            let input = state.pointee.input
            for c in 0..<input.count { clearSamples(input[c], frames) }
            guard input.count > 0, let source = state.pointee.configuration.source else { return }
            let count = source.read(input, frameCount: frames).frameCount
            if count < frames { state.pointee.starved.wrappingAdd(frames &- count, ordering: .relaxed) }
        }

        @_noLocks
        private func play(_ channels: Channels) {
            guard channels.count > 0, let sink = state.pointee.configuration.sink else { return }
            sink.write(channels, frameCount: state.pointee.configuration.blockFrameCount)
        }
    }
}
