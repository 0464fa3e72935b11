// SPDX-License-Identifier: Apache-2.0

/// Decides when a stretch of sound is removed or repeated to correct the delay.
///
/// Periodic sound is stretched as soon as the delay is some milliseconds off. Other sound, such as music, is corrected by the
/// rate; if that would take too long, the best available joint is used after 0.3 s.
struct StretchPlan: BitwiseCopyable {
    /// The maximum frames of the stream to remove; negative to repeat.
    private(set) var limit = 0
    /// True if any joint is acceptable.
    private(set) var isUrgent = false
    private var sinceStretch = 0  // device frames since the last
    private var unmet = 0.0  // seconds for which a stretch was wanted

    // Seconds. They were chosen, not measured; docs/decisions/inaudible-delay-changes.md names the first.

    /// The excess above which sound is removed, one pitch period at a time.
    private static var longExcess: Double { @_noLocks get { 0.004 } }
    /// The same limit while the delay is not known well: estimates of the first seconds still change.
    private static var earlyLongExcess: Double { @_noLocks get { 0.020 } }
    /// The age of the delay's estimate from which it is known well.
    private static var knownAge: Double { @_noLocks get { 2 } }
    /// The excess below which sound is repeated: a delay that is too short costs gaps, so this limit is tighter.
    private static var shortExcess: Double { @_noLocks get { -0.0025 } }
    /// The excess above which the correction must not wait for periodic sound.
    private static var largeExcess: Double { @_noLocks get { 0.010 } }
    /// The same limit for a delay that is too short.
    private static var largeShortExcess: Double { @_noLocks get { -0.005 } }
    /// The time after which a large excess makes any joint acceptable.
    private static var urgentTime: Double { @_noLocks get { 0.3 } }
    /// The minimum time between two stretches.
    private static var usualPause: Double { @_noLocks get { 0.030 } }
    /// The same time if the excess exceeds ``fastStretchExcess`` or is urgent.
    private static var shortPause: Double { @_noLocks get { 0.020 } }
    /// The excess from which stretches follow each other faster.
    private static var fastStretchExcess: Double { @_noLocks get { 0.030 } }

    /// The correlation of a stretch with its replacement that only voices, single notes and the like reach.
    private static var voiced: Float { @_noLocks get { 0.85 } }

    /// The required correlation of a joint.
    var similarity: Float { @_noLocks get { isUrgent ? -1 : Self.voiced } }

    /// Plans for one block.
    /// - Parameters:
    ///   - excess: the seconds by which the delay is too long.
    ///   - age: the seconds since the oldest known packet.
    ///   - frameCount: the frames of the device's block.
    @_noLocks
    mutating func update(
        excess: Double, age: Double, hasPlayed: Bool, frameCount: Int, _ configuration: PlayoutConfiguration
    ) {
        sinceStretch &+= frameCount
        limit = 0
        let isLong = excess > (age > Self.knownAge ? Self.longExcess : Self.earlyLongExcess)
        guard isLong || excess < Self.shortExcess, hasPlayed else {
            unmet = 0
            return
        }
        unmet += Double(frameCount) / configuration.deviceRate
        let isLarge = excess > Self.largeExcess || excess < Self.largeShortExcess
        if isLarge, unmet > Self.urgentTime { isUrgent = true }
        if !isLarge { isUrgent = false }
        let pause = excess > Self.fastStretchExcess || isUrgent ? Self.shortPause : Self.usualPause
        guard Double(sinceStretch) >= pause * configuration.deviceRate else { return }
        limit = Int(excess * configuration.streamRate)
    }

    /// Starts the pause after a stretch.
    @_noLocks
    mutating func noteStretch() { sinceStretch = 0 }

    /// Shortens the pause, because no joint was found here and another position may be better.
    @_noLocks
    mutating func noteFailure() { sinceStretch = sinceStretch / 2 }
}
