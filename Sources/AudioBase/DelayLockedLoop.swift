// SPDX-License-Identifier: Apache-2.0

/// Maps a device's frame counter to the machine's clock, from the start times of its callbacks.
///
/// A straight line through all calls so far, by least squares with a memory that grows until 16 s and then fades with 5 s (E.
/// Brookner, "Tracking and Kalman Filtering Made Easy", 1998: expanding- and fading-memory polynomial filters, here in
/// information form, so that blocks may vary). The mean is right for symmetric jitter. If calls are only ever late, the true
/// times are the earliest ones; the residuals' skewness (0 if symmetric, 2 if exponential) moves the result from their mean to
/// their minimum of the last seconds.
///
/// A call that is late by a stall counts as at most 1 ms. The loop restarts, except for the rate, when the clock has been off by
/// more than 5 ms for 16 calls in a row (the device lost time without reporting it) or by more than a second once (the machine
/// was suspended); and completely when the counter stops or runs back. Safe on the render thread; for one thread at a time.
package struct DelayLockedLoop: BitwiseCopyable, Sendable {
    private let nominal: Double
    private var line = Line()
    private var lateness = Lateness()
    private var sampleTime: Int64 = 0
    private var hostTime = HostTime(nanoseconds: 0)  // on the line
    private var remainder = 0.0  // seconds below a nanosecond
    private var strayCount = 0
    private var isFirst = true

    /// - Parameter sampleRate: the nominal rate in hertz.
    package init(sampleRate: Double) { nominal = 1 / sampleRate }

    /// The duration of a frame in seconds on the machine's clock; within 1 % of nominal.
    package var secondsPerFrame: Double { @_noLocks get { nominal * line.slope } }

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
        let elapsed = Double(sampleTime &- self.sampleTime) * nominal
        self.sampleTime = sampleTime
        if isFirst || elapsed <= 0 {
            reset()
            return begin(at: now)
        }
        let expected = remainder + elapsed * line.slope
        let error = now.seconds(since: hostTime.advanced(bySeconds: expected))
        strayCount = error > 0.005 || error < -0.005 ? strayCount &+ 1 : 0
        // No callback is early: while the line is based on few calls, a seemingly early one is a better start.
        if strayCount >= 16 || error > 1 || error < -1 || (error < -0.001 && line.weight < 64) {
            line = Line(slope: line.slope)
            lateness.restart()
            return begin(at: now)
        }
        let bounded = max(-0.001, min(0.001, error))
        let slope = line.slope
        let shift = line.update(elapsed: elapsed, error: bounded)
        lateness.update(elapsed: elapsed, shift: shift, turn: line.slope - slope, residual: bounded - shift)
        let step = expected + shift
        let next = hostTime.advanced(bySeconds: step)
        remainder = step - next.seconds(since: hostTime)
        hostTime = next
        return next.advanced(bySeconds: remainder + lateness.floor)
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
    /// The slope of the line, and its information: sums over the calls of their weight times 1, t and t², where t is the seconds
    /// since the call (negative, at the nominal rate).
    struct Line: BitwiseCopyable, Sendable {
        /// The host's seconds for each second of the device.
        private(set) var slope: Double
        private(set) var weight = 1.0
        private var first = 0.0
        private var second = 0.1  // what is known before: that the rate is within some 300 ppm, at jitter of 100 µs
        private var age = 0.0
        private static let growth = 16.0
        private static let fading = 5.0

        @_noLocks
        init(slope: Double = 1) { self.slope = slope }

        /// Adds a call's lateness relative to the line in seconds. Returns the line's shift at that call.
        @_noLocks
        mutating func update(elapsed: Double, error: Double) -> Double {
            second += elapsed * (elapsed * weight - 2 * first)
            first -= elapsed * weight
            age += elapsed
            if age > Self.growth {
                let kept = Self.fading / (Self.fading + elapsed)
                weight *= kept
                first *= kept
                second *= kept
            }
            weight += 1
            let scale = error / (weight * second - first * first)
            slope = max(0.99, min(1.01, slope - first * scale))
            return second * scale
        }
    }
}
