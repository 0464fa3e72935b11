// SPDX-License-Identifier: Apache-2.0

/// Decides when a stretch of sound is left out or repeated to correct the delay.
///
/// Sound that repeats from period to period is stretched as soon as the delay is some milliseconds off. Other sound, such as
/// music, is left to the rate; if that would last too long for a listener, after 0.3 s, the best joint there is must do.
struct StretchPlan: BitwiseCopyable {
    /// Frames of the stream to leave out at most; negative: to repeat.
    private(set) var limit = 0
    /// True if any joint will do.
    private(set) var isUrgent = false
    private var sinceStretch = 0  // device frames since the last
    private var unmet = 0.0  // seconds for which a stretch was wanted

    /// Correlation of a stretch with its replacement that only voices, single notes and the like have.
    private static var voiced: Float { @_noLocks get { 0.85 } }

    /// Correlation that a joint must have.
    var likeness: Float { @_noLocks get { isUrgent ? -1 : Self.voiced } }

    /// Plans for one block.
    /// - Parameters:
    ///   - excess: seconds by which the delay is too long.
    ///   - age: seconds since the oldest packet that is known.
    ///   - frameCount: frames of the device's block.
    @_noLocks
    mutating func update(
        excess: Double, age: Double, hasPlayed: Bool, frameCount: Int, _ configuration: PlayoutConfiguration
    ) {
        sinceStretch &+= frameCount
        limit = 0
        let isLong = excess > (age > 2 ? 0.004 : 0.020)
        guard isLong || excess < -0.0025, hasPlayed else {
            unmet = 0
            return
        }
        unmet += Double(frameCount) / configuration.deviceRate
        let isLarge = excess > 0.010 || excess < -0.005
        if isLarge, unmet > 0.3 { isUrgent = true }
        if !isLarge { isUrgent = false }
        let pause = excess > 0.030 || isUrgent ? 0.020 : 0.030
        guard Double(sinceStretch) >= pause * configuration.deviceRate else { return }
        limit = Int(excess * configuration.streamRate)
    }

    /// Starts the pause after a stretch.
    @_noLocks
    mutating func noteStretch() { sinceStretch = 0 }

    /// Shortens the pause: no joint was found here, another place may be better.
    @_noLocks
    mutating func noteFailure() { sinceStretch = sinceStretch / 2 }
}
