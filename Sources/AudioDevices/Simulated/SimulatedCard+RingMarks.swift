// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension SimulatedCard {
    /// The positions at which a device left its card's two rings: for each ring the time at which its next frame passes the
    /// converter, in nanoseconds of the machine's clock; `Int64.min` before the first start.
    struct RingMarks: BitwiseCopyable, Sendable {
        var source: Int64
        var sink: Int64

        @_noLocks
        init(source: Int64 = -0x8000_0000_0000_0000, sink: Int64 = -0x8000_0000_0000_0000) {
            self.source = source
            self.sink = sink
        }
    }
}

extension SimulatedCard.Renderer {
    /// The positions of the rings after the last cycle.
    var ringMarks: SimulatedCard.RingMarks {
        let frame = state.pointee.sampleTime
        let played = frame &+ Int64(2 &* state.pointee.longestBlock)
        return SimulatedCard.RingMarks(
            source: time(ofFrame: frame).nanoseconds &- state.pointee.ringSlack.source,
            sink: time(ofFrame: played).nanoseconds &- state.pointee.ringSlack.sink)
    }

    /// Skips the frames that passed while no device used the rings, so that later frames keep their times: drops them from the
    /// source, and makes a gap in the sink. The rounding error, less than a frame, is compensated the next time.
    @_noLocks
    func catchUp(_ left: SimulatedCard.RingMarks) {
        state.pointee.ringSlack = SimulatedCard.RingMarks(source: 0, sink: 0)
        guard left.source != .min else { return }
        let timeline = state.pointee.timeline
        let secondsPerFrame = timeline.seconds(atFrame: 2) - timeline.seconds(atFrame: 1)
        let first = time(ofFrame: 0).nanoseconds
        var missing = frames(from: left.source, to: first, secondsPerFrame)
        state.pointee.ringSlack.source =
            first &- left.source &- earshot_round(Double(missing) * secondsPerFrame * 1e9)
        discard(missing)
        let firstPlayed = time(ofFrame: Int64(2 &* state.pointee.longestBlock)).nanoseconds
        missing = frames(from: left.sink, to: firstPlayed, secondsPerFrame)
        state.pointee.ringSlack.sink =
            firstPlayed &- left.sink &- earshot_round(Double(missing) * secondsPerFrame * 1e9)
        if missing > 0, let sink = state.pointee.sink { sink.skip(missing) }
    }

    @_noLocks
    private func frames(from: Int64, to: Int64, _ secondsPerFrame: Double) -> Int {
        let count = Int(earshot_round(Double(to &- from) * 1e-9 / secondsPerFrame))
        return count > 0 ? count : 0
    }

    /// Drops this many frames from the source. Frames that the source lost itself because it was full are included.
    @_noLocks
    private func discard(_ frameCount: Int) {
        let input = state.pointee.wiring.captured
        guard input.count > 0, let source = state.pointee.source else { return }
        var remaining = frameCount
        var position = -1
        while remaining > 0 {
            let slice = source.read(
                input, frameCount: remaining < state.pointee.longestBlock ? remaining : state.pointee.longestBlock)
            if slice.frameCount == 0 { return }
            if position >= 0 { remaining &-= slice.position &- position }
            position = slice.position &+ slice.frameCount
            remaining &-= slice.frameCount
        }
    }
}
