// SPDX-License-Identifier: Apache-2.0

/// The glitches that each depth of the buffer would have had, from the packets of about ten minutes.
///
/// A glitch is a run of packets that are too late for the depth, of any length; lost packets are not included, as no depth brings
/// them. A value of fixed size. ``glitchesPerMinute(atDepth:)`` and ``lateShare(atDepth:)`` are observations;
/// ``glitchRate(atDepth:)`` extrapolates if there are too few.
package struct PlayoutForecast: BitwiseCopyable, Sendable {
    /// The seconds of the observation; older ones than about ten minutes weigh less.
    package internal(set) var observedSeconds = 0.0
    /// The packets of the observation.
    package internal(set) var packetCount = 0.0

    private var candidateDepths: InlineArray<22, Double> = [
        0.000_12, 0.000_25, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015,
        0.020, 0.030, 0.040, 0.060, 0.080, 0.120, 0.160, 0.240, 0.320, 0.500,
    ]
    private var runs = InlineArray<22, Double>(repeating: 0)  // the runs of packets too late for each depth
    private var late = InlineArray<22, Double>(repeating: 0)  // the packets too late for each depth
    private var previousReach = 0  // the number of depths that the last packet was too late for
    private var lastTime = -1.0
    private var fadedTime = 0.0
    private static var depthCount: Int { @_noLocks get { 22 } }

    /// Creates an empty forecast.
    @_noLocks
    package init() {}

    /// The depths in seconds, ascending.
    package var knownDepths: [Double] { (0..<Self.depthCount).map { candidateDepths[$0] } }

    /// Returns the observed glitches a minute at a depth, in seconds that the earliest packet waits. A depth that is not in
    /// ``knownDepths`` counts as the next smaller one, so that the result is not too good; one below all counts as the smallest.
    package func glitchesPerMinute(atDepth depth: Double) -> Double {
        observedSeconds > 0 ? seenRuns[index(depth)] / observedSeconds * 60 : 0
    }

    /// Returns the estimated glitches a minute at a depth, also if few or none were observed; see ``GlitchRate``.
    package func glitchRate(atDepth depth: Double) -> GlitchRate { glitchRates[index(depth)] }

    /// The estimated glitches a minute at each of ``knownDepths``.
    package var glitchRates: [GlitchRate] {
        GlitchRate.rates(runs: seenRuns, depths: knownDepths, seconds: observedSeconds)
    }

    /// The runs of late packets at each depth. If nearly all packets are late, their runs merge although as much is
    /// audible; so each number is at least as great as that at any greater depth.
    private var seenRuns: [Double] {
        var most = 0.0
        return (0..<Self.depthCount).reversed().map { at in
            most = max(most, runs[at])
            return most
        }.reversed()
    }

    /// Returns the share of packets that would be late at a depth in seconds.
    package func lateShare(atDepth depth: Double) -> Double {
        packetCount > 0 ? late[index(depth)] / packetCount : 0
    }

    /// Returns the depth in seconds that a profile would keep: the smallest of ``knownDepths`` with the profile's share of late
    /// packets. For a profile faster than `talk` it is that depth or a greater one, beyond which more delay saves too few
    /// packets. The profile's ceiling limits the result.
    package func depth(for profile: LatencyProfile) -> Double {
        let all = 0..<Self.depthCount
        let enough =
            all.first { packetCount == 0 || late[$0] <= profile.lateShare * packetCount } ?? Self.depthCount - 1
        let worth = observedSeconds > 0 ? profile.delayPerSavedPacket * profile.memory / observedSeconds : 0
        let allowed = all[enough...].filter { candidateDepths[$0] <= profile.ceiling }
        let best = allowed.min { candidateDepths[$0] + worth * late[$0] < candidateDepths[$1] + worth * late[$1] }
        return min(profile.ceiling, candidateDepths[best ?? enough])
    }

    /// Returns a line of text about the glitches at some depths, given in seconds: "8 ms: 0.3 glitches a minute; 12 ms: 0.01".
    package func text(forDepths wanted: [Double]) -> String {
        guard observedSeconds >= 1 else { return "too little is known yet" }
        let rates = glitchRates
        return wanted.enumerated().map { place, depth in
            "\(GlitchRate.short(depth * 1e3)) ms: \(rates[index(depth)])\(place == 0 ? " glitches a minute" : "")"
        }.joined(separator: "; ")
    }

    private func index(_ depth: Double) -> Int {
        (0..<Self.depthCount).last { candidateDepths[$0] <= depth + 1e-9 } ?? 0
    }
}

extension PlayoutForecast {
    /// Adds a packet that came `delay` seconds later than the earliest one, at `now` in seconds of any one clock. Safe on the
    /// render thread.
    @_noLocks
    mutating func add(delay: Double, at now: Double) {
        if lastTime >= 0, now > lastTime { observedSeconds += min(1, now - lastTime) }
        if lastTime < 0 || now > lastTime { lastTime = now }
        if now - fadedTime > 10 || now < fadedTime { fade(at: now) }
        packetCount += 1
        var reached = 0
        while reached < Self.depthCount, delay > candidateDepths[reached] {
            late[reached] += 1
            if reached >= previousReach { runs[reached] += 1 }
            reached &+= 1
        }
        previousReach = reached
    }

    /// Reduces the counts by a sixtieth every 10 s: a memory of ten minutes.
    @_noLocks
    private mutating func fade(at now: Double) {
        fadedTime = now
        guard packetCount > 0 else { return }
        let remainingShare = 59.0 / 60
        observedSeconds *= remainingShare
        packetCount *= remainingShare
        for i in 0..<Self.depthCount {
            runs[i] *= remainingShare
            late[i] *= remainingShare
        }
    }
}
