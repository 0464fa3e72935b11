// SPDX-License-Identifier: Apache-2.0

import EarshotPlayout

/// The effect of each dial, and of each depth of the jitter buffer, on one link.
struct LinkForecast: Codable {
    /// A depth of the jitter buffer and its effect.
    struct Row: Codable {
        /// The dial that would lead to this depth; nil for a row of ``LinkForecast/depths``.
        var dial: String?
        /// The depth in milliseconds: the delay that the buffer adds to the earliest packets.
        var depthMs: Double
        /// The predicted rate of glitches; for the basis `fewerThan`, an upper bound of the rate.
        var glitchesPerMinute: Double
        var basis: Basis
        /// The observed share of packets that would be too late.
        var lateShare: Double
    }

    enum Basis: String, Codable {
        case seen, extrapolated, fewerThan
    }

    /// The seconds of observation.
    var observedSeconds: Double
    var packets: Int
    var dials: [Row]
    var depths: [Row]

    /// - Returns: nil if the link was observed for less than a second.
    init?(_ forecast: PlayoutForecast, dials: [LatencyProfile] = LatencyProfile.presets.map(\.profile)) {
        guard forecast.observedSeconds >= 1 else { return nil }
        observedSeconds = (forecast.observedSeconds * 10).rounded() / 10
        packets = Int(forecast.packetCount.rounded())
        let rates = forecast.glitchRates
        let knownDepths = forecast.knownDepths
        func row(_ dial: LatencyProfile?, _ depth: Double) -> Row {
            let rate = rates[knownDepths.lastIndex { $0 <= depth + 1e-9 } ?? 0]
            return Row(
                dial: dial?.description, depthMs: (depth * 1e5).rounded() / 1e2, glitchesPerMinute: rate.perMinute,
                basis: Basis(rate), lateShare: forecast.lateShare(atDepth: depth))
        }
        self.dials = dials.map { row($0, forecast.depth(for: $0)) }
        depths = knownDepths.map { row(nil, $0) }
    }
}

extension LinkForecast.Basis {
    fileprivate init(_ rate: GlitchRate) {
        switch rate {
        case .seen: self = .seen
        case .extrapolated: self = .extrapolated
        case .fewerThan: self = .fewerThan
        }
    }
}

extension LinkForecast.Row {
    var rate: GlitchRate {
        switch basis {
        case .seen: .seen(glitchesPerMinute)
        case .extrapolated: .extrapolated(glitchesPerMinute)
        case .fewerThan: .fewerThan(glitchesPerMinute)
        }
    }

    /// The depth as text: `12 ms`.
    var depthWords: String { "\(Double(Int(depthMs)) == depthMs ? "\(Int(depthMs))" : "\(depthMs)") ms" }
}

extension LinkForecast {
    /// Returns the predicted glitch rates of depths as text: `0.3 at 8 ms, 0.01 at 12 ms`.
    private static func summary(_ rows: [Row]) -> String {
        rows.map { "\($0.rate) at \($0.depthWords)" }.joined(separator: ", ")
    }

    /// Returns the predicted glitch rates as text: for the last known depth up to `depthMs`, the one before and two after.
    func summary(around depthMs: Double) -> String {
        let ownIndex = depths.lastIndex { $0.depthMs <= depthMs } ?? 0
        return Self.summary(Array(depths[max(0, ownIndex - 1)...min(depths.count - 1, ownIndex + 2)]))
    }

    /// The predicted glitch rates as text, for at most eight depths: from the last depth with more than 300 glitches per minute
    /// to the first depth whose rate is only an upper bound.
    var summary: String {
        let hopelessIndex = depths.lastIndex { $0.glitchesPerMinute > 300 } ?? 0
        let boundIndex = depths[hopelessIndex...].firstIndex { $0.basis == .fewerThan } ?? depths.count - 1
        return Self.summary(Array(depths[hopelessIndex...boundIndex].prefix(8)))
    }
}
