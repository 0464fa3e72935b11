// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Checks a stream's rate against the machine's clock.
struct ALSAFlow: BitwiseCopyable {
    enum Verdict {
        case steady
        /// Less than 80 % of the frames arrived in a second, without an xrun. PipeWire's plug-in accepts at most the configured
        /// block at once, even if its graph runs longer blocks.
        case slow
        /// Over two seconds of frames arrived in less than a quarter of that time. The PCM has no clock, like ALSA's PCMs `null`
        /// and `file`.
        case unpaced
    }

    private var isRunning = false
    private var begin = HostTime(nanoseconds: 0)
    private var frameCount = 0

    /// Creates a check that begins with the first block.
    init() {}

    /// Adds a block of this many frames, which was complete at the time `now`, and judges the stream's rate.
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
