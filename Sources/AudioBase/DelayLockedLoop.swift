// SPDX-License-Identifier: Apache-2.0

/// Maps a device's frame counter to the machine's clock, from the start times of its callbacks.
///
/// A straight line is laid through the calls so far by least squares. Its memory grows for 16 s and then fades with a time
/// constant of 5 s (E. Brookner, "Tracking and Kalman Filtering Made Easy", 1998: expanding- and fading-memory polynomial
/// filters, here in information form, so that the lengths of blocks may vary). For symmetric jitter the mean is right. If calls
/// are only ever late, the earliest ones are right: the residuals' skewness (0 if symmetric, 2 if exponential) moves the result
/// from the residuals' mean to their minimum in the last seconds.
///
/// A call's distance from the line counts as at most 1 ms, so that a stall changes little. The loop restarts, but keeps the rate,
/// when the clock has been off by more than 5 ms for 16 calls in a row (the device lost time without reporting it), when it is
/// off by more than a second once (the machine was suspended), and when one of the first calls seems more than 1 ms early. The
/// loop restarts completely when the counter stops or runs back. Safe on the render thread; for one thread at a time.
package struct DelayLockedLoop: BitwiseCopyable, Sendable {
    private let nominalSecondsPerFrame: Double
    private var line = Line()
    private var lateness = Lateness()
    private var sampleTime: Int64 = 0  // the frame counter at the last call
    private var hostTime = HostTime(nanoseconds: 0)  // the last call's time on the line
    private var remainder = 0.0  // the seconds that rounding cut from `hostTime`
    private var strayCount = 0  // the calls in a row that were off by more than 5 ms
    private var isFirst = true

    /// - Parameter sampleRate: the nominal rate in hertz.
    package init(sampleRate: Double) { nominalSecondsPerFrame = 1 / sampleRate }

    /// The duration of a frame in seconds on the machine's clock; within 1 % of nominal.
    package var secondsPerFrame: Double { @_noLocks get { nominalSecondsPerFrame * line.slope } }

    /// The device's speed relative to nominal, in parts per million.
    package var driftPPM: Double { @_noLocks get { (1 / line.slope - 1) * 1e6 } }

    /// Forgets everything, as before the first call.
    @_noLocks
    package mutating func reset() {
        line = Line()
        lateness = Lateness()
        isFirst = true
    }

    /// Adds the start of a call. Returns its due time.
    /// - Parameters:
    ///   - sampleTime: the device's frame counter at the call, including skipped frames.
    ///   - now: the start of the call.
    @_noLocks
    package mutating func update(sampleTime: Int64, now: HostTime) -> HostTime {
        let elapsed = Double(sampleTime &- self.sampleTime) * nominalSecondsPerFrame
        self.sampleTime = sampleTime
        if isFirst || elapsed <= 0 {
            reset()
            return begin(at: now)
        }
        let expected = remainder + elapsed * line.slope
        let error = now.seconds(since: hostTime.advanced(bySeconds: expected))
        strayCount = error > 0.005 || error < -0.005 ? strayCount &+ 1 : 0
        // No callback is early: if one seems early while the line is based on few calls, it is a better start of the line.
        if strayCount >= 16 || error > 1 || error < -1 || (error < -0.001 && line.weight < 64) {
            line = Line(slope: line.slope)
            lateness.restart()
            return begin(at: now)
        }
        let bounded = max(-0.001, min(0.001, error))
        let oldSlope = line.slope
        let shift = line.update(elapsed: elapsed, error: bounded)
        lateness.update(elapsed: elapsed, shift: shift, turn: line.slope - oldSlope, residual: bounded - shift)
        let step = expected + shift
        let nextHostTime = hostTime.advanced(bySeconds: step)
        remainder = step - nextHostTime.seconds(since: hostTime)
        hostTime = nextHostTime
        return nextHostTime.advanced(bySeconds: remainder + lateness.floor)
    }

    @_noLocks
    private mutating func begin(at now: HostTime) -> HostTime {
        isFirst = false
        strayCount = 0
        hostTime = now
        remainder = 0
        return now
    }
}

extension DelayLockedLoop {
    /// A least-squares line: its slope, and the sums over all calls of a call's weight times 1, t and t². Here t is a call's time
    /// in seconds relative to the last call, at the nominal rate; it is 0 or negative.
    struct Line: BitwiseCopyable, Sendable {
        /// The seconds on the machine's clock for each second of the device's frame counter at the nominal rate.
        private(set) var slope: Double
        private(set) var weight = 1.0
        private var timeSum = 0.0
        private var squareTimeSum = 0.1  // assumes a rate within some 300 ppm, and jitter of 100 µs
        private var age = 0.0  // seconds since the line's start
        private static let growthSeconds = 16.0
        private static let fadingSeconds = 5.0

        @_noLocks
        init(slope: Double = 1) { self.slope = slope }

        /// Adds a call that is `error` seconds later than the line. Returns the line's shift at that call in seconds.
        @_noLocks
        mutating func update(elapsed: Double, error: Double) -> Double {
            squareTimeSum += elapsed * (elapsed * weight - 2 * timeSum)
            timeSum -= elapsed * weight
            age += elapsed
            if age > Self.growthSeconds {
                let retained = Self.fadingSeconds / (Self.fadingSeconds + elapsed)
                weight *= retained
                timeSum *= retained
                squareTimeSum *= retained
            }
            weight += 1
            let scale = error / (weight * squareTimeSum - timeSum * timeSum)
            slope = max(0.99, min(1.01, slope - timeSum * scale))
            return squareTimeSum * scale
        }
    }
}
