// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Checks a stream's rate against the machine's clock.
struct ALSAFlow: BitwiseCopyable {
    enum Verdict {
        case steady
        /// Less than 80 % of the frames arrived in a second, without an xrun: PipeWire's plug-in accepts no more at once than the
        /// configured block, even if its graph runs longer ones.
        case slow
        /// Two seconds of frames arrived in a quarter of that time: it has no clock, like ALSA's PCMs `null` and `file`.
        case unpaced
    }

    private var isRunning = false
    private var begin = HostTime(nanoseconds: 0)
    private var frameCount = 0

    /// Creates a flow before the first cycle.
    init() {}

    /// Adds a complete block with its time.
    @_noLocks
    mutating func add(_ block: Int, at now: HostTime, sampleRate: Double) -> Verdict {
        guard isRunning else {
            isRunning = true
            begin = now
            frameCount = 0
            return .steady
        }
        frameCount &+= block
        let seconds = Double(frameCount) / sampleRate
        let elapsed = now.seconds(since: begin)
        if seconds > 2, seconds > 4 * elapsed { return .unpaced }
        guard elapsed >= 1 else { return .steady }
        let isSlow = seconds < 0.8 * elapsed
        begin = now
        frameCount = 0
        return isSlow ? .slow : .steady
    }
}
