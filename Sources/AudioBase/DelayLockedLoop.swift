import CRealtime

/// Maps a device's frame counter to the machine's clock, out of the times at which its callbacks began.
///
/// A second-order delay-locked loop (F. Adriaensen, "Using a DLL to filter time", LAC 2005). A callback begins late by a
/// wake-up's jitter and, now and then, by a stall; so an error counts as 1 ms at most, and only when the clock has been off
/// by more than 5 ms for 16 calls in a row (the device lost time and did not say so) does the loop start anew.
/// Render-safe; one thread at a time.
public struct DelayLockedLoop: BitwiseCopyable, Sendable {
    /// Seconds a frame lasts on the machine's clock.
    public private(set) var secondsPerFrame: Double
    private let nominal: Double
    private let bandwidth: Double
    private var sampleTime: Int64 = 0
    private var hostTime = HostTime(nanoseconds: 0)
    private var remainder = 0.0  // seconds below a nanosecond
    private var strayCount = 16

    /// - Parameters:
    ///   - sampleRate: nominal, in hertz.
    ///   - bandwidth: in hertz; lower is smoother and slower to follow.
    public init(sampleRate: Double, bandwidth: Double = 0.5) {
        nominal = 1 / sampleRate
        secondsPerFrame = nominal
        self.bandwidth = bandwidth
    }

    /// Forgets all but the nominal rate.
    @_noLocks
    public mutating func reset() {
        secondsPerFrame = nominal
        strayCount = 16
    }

    /// Takes the start of a call and returns when it was due.
    /// - Parameters:
    ///   - sampleTime: the device's frame counter at the call; frames it skipped are in it.
    ///   - now: when the call began.
    @_noLocks
    public mutating func update(sampleTime: Int64, now: HostTime) -> HostTime {
        let frames = Double(sampleTime &- self.sampleTime)
        let expected = hostTime.advanced(bySeconds: remainder + frames * secondsPerFrame)
        let error = now.seconds(since: expected)
        strayCount = error > 0.005 || error < -0.005 ? strayCount &+ 1 : 0
        self.sampleTime = sampleTime
        if strayCount >= 16 || frames <= 0 {
            strayCount = 0
            secondsPerFrame = nominal
            hostTime = now
            remainder = 0
            return now
        }
        let bounded = max(-0.001, min(0.001, error))
        let omega = min(0.5, 2 * Double.pi * bandwidth * frames * secondsPerFrame)
        let step = remainder + frames * secondsPerFrame + 1.414 * omega * bounded
        let next = hostTime.advanced(bySeconds: step)
        remainder = step - next.seconds(since: hostTime)
        hostTime = next
        secondsPerFrame = max(0.99 * nominal, min(1.01 * nominal, secondsPerFrame + omega * omega * bounded / frames))
        return next
    }
}
