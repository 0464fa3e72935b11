// SPDX-License-Identifier: Apache-2.0

/// The glitches that each depth of the buffer would have had here, from the packets of the last ten minutes or so.
///
/// A glitch is a run of packets that come too late for the depth, however many; packets that never come are not
/// in it, as no depth brings them. A value of a fixed size. ``glitchesPerMinute(atDepth:)`` and ``lateShare(atDepth:)``
/// are what was seen; ``glitchRate(atDepth:)`` goes on where too little was.
package struct PlayoutForecast: BitwiseCopyable, Sendable {
    /// Seconds that it rests on; what is older than some ten minutes weighs less.
    package internal(set) var observedSeconds = 0.0
    /// Packets that it rests on.
    package internal(set) var packetCount = 0.0

    private var depths: InlineArray<22, Double> = [
        0.000_12, 0.000_25, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015,
        0.020, 0.030, 0.040, 0.060, 0.080, 0.120, 0.160, 0.240, 0.320, 0.500,
    ]
    private var runs = InlineArray<22, Double>(repeating: 0)  // that began, too late for the depth
    private var late = InlineArray<22, Double>(repeating: 0)  // packets too late for the depth
    private var previous = 0  // depths that the last packet was too late for
    private var lastTime = -1.0
    private var fadedTime = 0.0
    private static var depthCount: Int { @_noLocks get { 22 } }

    /// An empty forecast.
    @_noLocks
    package init() {}

    /// Seconds by which the depths may be told apart, from the least to the greatest.
    package var knownDepths: [Double] { (0..<Self.depthCount).map { depths[$0] } }

    /// Glitches a minute at a depth, in seconds that the promptest packet waits, as they were seen. What is not among
    /// ``knownDepths`` is taken as the next smaller one, so never too good.
    package func glitchesPerMinute(atDepth depth: Double) -> Double {
        observedSeconds > 0 ? seenRuns[index(depth)] / observedSeconds * 60 : 0
    }

    /// Glitches a minute at a depth, likewise, where few or none were seen too; see ``GlitchRate``.
    package func glitchRate(atDepth depth: Double) -> GlitchRate { glitchRates[index(depth)] }

    /// The same of each of ``knownDepths``.
    package var glitchRates: [GlitchRate] {
        GlitchRate.rates(runs: seenRuns, depths: knownDepths, seconds: observedSeconds)
    }

    /// Runs by depth. Where nearly all is late runs flow together, which is no less to hear: there are as many as at any
    /// greater depth.
    private var seenRuns: [Double] {
        var most = 0.0
        return (0..<Self.depthCount).reversed().map { at in
            most = max(most, runs[at])
            return most
        }.reversed()
    }

    /// The share of packets that would come too late for a depth in seconds, likewise.
    package func lateShare(atDepth depth: Double) -> Double {
        packetCount > 0 ? late[index(depth)] / packetCount : 0
    }

    /// The one of ``knownDepths``, or its ceiling, that a dial would hold here, in seconds: the smallest with no more than its share of late packets,
    /// of a dial quicker than `talk` the one above it beyond which more saves too few.
    package func depth(for dial: PlayoutDial) -> Double {
        let all = 0..<Self.depthCount
        let enough = all.first { packetCount == 0 || late[$0] <= dial.lateShare * packetCount } ?? Self.depthCount - 1
        let worth = observedSeconds > 0 ? dial.worth * dial.memory / observedSeconds : 0
        let allowed = all[enough...].filter { depths[$0] <= dial.ceiling }
        let best = allowed.min { depths[$0] + worth * late[$0] < depths[$1] + worth * late[$1] }
        return min(dial.ceiling, depths[best ?? enough])
    }

    /// Returns a line on these depths, in seconds: "8 ms: 0.3 glitches a minute; 12 ms: 0.01".
    package func text(forDepths wanted: [Double]) -> String {
        guard observedSeconds >= 1 else { return "too little is known yet" }
        let rates = glitchRates
        return wanted.enumerated().map { place, depth in
            "\(GlitchRate.short(depth * 1e3)) ms: \(rates[index(depth)])\(place == 0 ? " glitches a minute" : "")"
        }.joined(separator: "; ")
    }

    private func index(_ depth: Double) -> Int {
        (0..<Self.depthCount).last { depths[$0] <= depth + 1e-9 } ?? 0
    }
}

extension PlayoutForecast {
    /// Takes how much later than the promptest a packet came, in seconds, at `now` on any clock. Render-safe.
    @_noLocks
    mutating func add(delay: Double, at now: Double) {
        if lastTime >= 0, now > lastTime { observedSeconds += min(1, now - lastTime) }
        if lastTime < 0 || now > lastTime { lastTime = now }
        if now - fadedTime > 10 || now < fadedTime { fade(at: now) }
        packetCount += 1
        var reached = 0
        while reached < Self.depthCount, delay > depths[reached] {
            late[reached] += 1
            if reached >= previous { runs[reached] += 1 }
            reached &+= 1
        }
        previous = reached
    }

    /// A sixtieth less each 10 s: ten minutes of memory.
    @_noLocks
    private mutating func fade(at now: Double) {
        fadedTime = now
        guard packetCount > 0 else { return }
        let kept = 59.0 / 60
        observedSeconds *= kept
        packetCount *= kept
        for i in 0..<Self.depthCount {
            runs[i] *= kept
            late[i] *= kept
        }
    }
}
