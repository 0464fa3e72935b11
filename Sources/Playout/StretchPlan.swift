// SPDX-License-Identifier: Apache-2.0

/// Decides when a stretch of sound is removed or repeated to correct the delay.
///
/// Periodic sound is stretched as soon as the delay is some milliseconds off. For other sound, such as music, the rate corrects
/// the delay; if that would take too long, the best available joint is used after 0.3 s.
struct StretchPlan: BitwiseCopyable {
    /// The maximum stream frames to remove; negative to repeat, 0 for no stretch.
    private(set) var limit = 0
    /// True if any joint is acceptable.
    private(set) var isUrgent = false
    private var framesSinceStretch = 0  // frames of the device
    private var wantedTime = 0.0  // the seconds for which a stretch has been wanted

    // The following values are in seconds. They were chosen, not measured; docs/decisions/inaudible-delay-changes.md names the
    // first.

    /// The excess delay above which sound is removed, one pitch period at a time.
    private static var longExcess: Double { @_noLocks get { 0.004 } }
    /// The excess delay above which sound is removed in the first seconds, when the delay is not known well.
    private static var earlyLongExcess: Double { @_noLocks get { 0.020 } }
    /// The age of the delay's estimate from which it is known well.
    private static var knownAge: Double { @_noLocks get { 2 } }
    /// The excess delay, negative, below which sound is repeated. A delay that is too short costs gaps, so this limit is tighter
    /// than that for a long delay.
    private static var shortExcess: Double { @_noLocks get { -0.0025 } }
    /// The excess delay above which the correction must not wait long for periodic sound.
    private static var largeExcess: Double { @_noLocks get { 0.010 } }
    /// The excess delay, negative, below which the correction must not wait long for periodic sound.
    private static var largeShortExcess: Double { @_noLocks get { -0.005 } }
    /// The time after which a large excess delay makes any joint acceptable.
    private static var urgentTime: Double { @_noLocks get { 0.3 } }
    /// The minimum time between two stretches.
    private static var usualPause: Double { @_noLocks get { 0.030 } }
    /// The minimum time between two stretches if the excess delay is above ``fastStretchExcess`` or urgent.
    private static var shortPause: Double { @_noLocks get { 0.020 } }
    /// The excess delay above which stretches follow each other faster.
    private static var fastStretchExcess: Double { @_noLocks get { 0.030 } }

    /// The correlation of a stretch with its replacement that only voices, single notes and the like reach.
    private static var voicedSimilarity: Float { @_noLocks get { 0.85 } }

    /// The minimum correlation that a joint must have, -1 to 1.
    var similarity: Float { @_noLocks get { isUrgent ? -1 : Self.voicedSimilarity } }

    /// Plans for one block.
    /// - Parameters:
    ///   - excess: the seconds by which the delay is too long.
    ///   - age: the age in seconds of the oldest packet from which the delay was learned.
    ///   - frameCount: the frames of the device's block.
    @_noLocks
    mutating func update(
        excess: Double, age: Double, hasPlayed: Bool, frameCount: Int, _ configuration: PlayoutConfiguration
    ) {
        framesSinceStretch &+= frameCount
        limit = 0
        let isLong = excess > (age > Self.knownAge ? Self.longExcess : Self.earlyLongExcess)
        guard isLong || excess < Self.shortExcess, hasPlayed else {
            wantedTime = 0
            return
        }
        wantedTime += Double(frameCount) / configuration.deviceRate
        let isLarge = excess > Self.largeExcess || excess < Self.largeShortExcess
        if isLarge, wantedTime > Self.urgentTime { isUrgent = true }
        if !isLarge { isUrgent = false }
        let pause = excess > Self.fastStretchExcess || isUrgent ? Self.shortPause : Self.usualPause
        guard Double(framesSinceStretch) >= pause * configuration.deviceRate else { return }
        limit = Int(excess * configuration.streamRate)
    }

    /// Notes that a stretch was made, after which there is a pause.
    @_noLocks
    mutating func noteStretch() { framesSinceStretch = 0 }

    /// Shortens the pause, because no joint was found here and another position may be better.
    @_noLocks
    mutating func noteFailure() { framesSinceStretch = framesSinceStretch / 2 }
}
