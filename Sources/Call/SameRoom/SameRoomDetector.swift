// SPDX-License-Identifier: Apache-2.0

/// Detects from sound that a remote participant is in the same room: both microphones then hear each voice at nearly the same
/// time, through the air.
///
/// The two sounds are compared at their times of capture. The air takes up to ``greatestReach`` between two microphones. An
/// echo takes longer: the sound of a loudspeaker was on the network before. So an echo is outside the window of lags, on either
/// side of it. A song that both loudspeakers play at the same time would be inside, so no sound is added while one plays.
///
/// Each second of sound gives a profile of the correlation by lag. Profiles of different seconds are multiplied, so that noise and
/// other voices cancel on average, and the sidelobes of a sung note, whose lags change with its pitch, nearly do. Takes some
/// 0.1 % of a core and 100 kB. For one thread at a time.
package struct SameRoomDetector {
    /// The sample rate of the sound in hertz.
    package static let sampleRate = 8_000.0
    /// The seconds that sound takes for 4 m, the greatest lag of the window.
    package static let greatestReach = 0.012
    /// The frames of a profile's sound: 1 s.
    static let batchFrames = 8_000
    /// The profiles that are compared.
    private static let profileCount = 4
    /// The least share of both sounds, as a squared coherence, that arrives within the window. Different rooms have up to 0.006.
    private static let leastShare: Float = 0.015
    /// The share that the lowest third of the pairs must have.
    private static let leastPairShare: Float = 0.008
    /// The least ratio to the share outside the window, which echoes have.
    private static let leastRatio: Float = 0.15
    /// The successive seconds of evidence that make a decision.
    private static let decisionCount = 3
    /// The successive seconds of sound without evidence after which the decision is withdrawn.
    private static let withdrawalCount = 20

    /// True while the participant is in the same room.
    package private(set) var isSameRoom = false
    /// The evidence of the last second; nil before.
    package private(set) var evidence: SameRoomEvidence?

    private let spectra = SameRoomSpectra()
    private var batch = SameRoomBatch()
    private var profiles: [SameRoomProfile] = []
    private var supportCount = 0
    private var doubtCount = 0

    package init() {}

    /// Adds sound with ``sampleRate``, captured at the same time: equally many samples of each.
    /// - Parameters:
    ///   - microphone: the local microphone's sound.
    ///   - voice: the remote participant's sound.
    ///   - reach: the greatest lag of the window in seconds. Must be less than the network's delay.
    package mutating func add(microphone: ArraySlice<Float>, voice: ArraySlice<Float>, reach: Double) {
        precondition(microphone.count == voice.count)
        for (microphone, voice) in zip(microphone, voice) where batch.append(microphone, voice) {
            if batch.isAudible { evaluate(min(reach, Self.greatestReach)) }
            batch.removeAll()
        }
    }

    /// Discards the sound so far, after a change of its times. Keeps the decision.
    package mutating func restart() {
        batch.removeAll()
        profiles = []
        supportCount = 0
    }

    private mutating func evaluate(_ reach: Double) {
        profiles.append(spectra.profile(of: batch))
        if profiles.count > Self.profileCount { profiles.removeFirst() }
        guard profiles.count > 1 else { return }
        let found = SameRoomEvidence(profiles, reach: Int(reach * Self.sampleRate))
        evidence = found
        let isSupported =
            found.share > Self.leastShare && found.pairShare > Self.leastPairShare
            && found.share > Self.leastRatio * found.echoShare
        supportCount = isSupported ? supportCount + 1 : 0
        doubtCount = isSupported ? 0 : doubtCount + 1
        if supportCount >= Self.decisionCount { isSameRoom = true }
        if doubtCount >= Self.withdrawalCount { isSameRoom = false }
    }
}

/// The result of comparing profiles.
package struct SameRoomEvidence: Sendable {
    /// The share of both sounds, as a squared coherence, that has lags within the window.
    package let share: Float
    /// The least share of two thirds of the pairs of profiles.
    package let pairShare: Float
    /// The share that has other lags.
    package let echoShare: Float

    /// The greatest lag of an echo, in frames.
    private static let echoReach = 800

    init(_ profiles: [SameRoomProfile], reach: Int) {
        var (shares, echo): ([Float], Float) = ([], 0)
        for i in profiles.indices {
            for k in 0..<i {
                let near = profiles[i].product(with: profiles[k], reach: reach)
                shares.append(near)
                echo += profiles[i].product(with: profiles[k], reach: Self.echoReach) - near
            }
        }
        let count = Float(shares.count)
        share = shares.reduce(0, +) / count
        pairShare = shares.sorted()[shares.count / 3]
        echoShare = echo / count
    }
}
