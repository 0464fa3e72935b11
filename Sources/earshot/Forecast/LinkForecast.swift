// SPDX-License-Identifier: Apache-2.0

import EarshotPlayout

/// The effect of each dial, and of each depth of the jitter buffer, on one link.
struct LinkForecast: Codable {
    /// A depth and its effect.
    struct Row: Codable {
        /// The dial that would keep it; nil if it is only a depth.
        var dial: String?
        /// The wait beyond the earliest packet: the delay that it adds.
        var depthMs: Double
        /// The rate, or its upper bound.
        var glitchesPerMinute: Double
        /// The basis of the rate.
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

    /// - Returns: nil if too little is known.
    init?(_ forecast: PlayoutForecast, dials: [LatencyProfile] = LatencyProfile.presets.map(\.profile)) {
        guard forecast.observedSeconds >= 1 else { return nil }
        observedSeconds = (forecast.observedSeconds * 10).rounded() / 10
        packets = Int(forecast.packetCount.rounded())
        let rates = forecast.glitchRates
        let known = forecast.knownDepths
        func row(_ dial: LatencyProfile?, _ depth: Double) -> Row {
            let rate = rates[known.lastIndex { $0 <= depth + 1e-9 } ?? 0]
            return Row(
                dial: dial?.description, depthMs: (depth * 1e5).rounded() / 1e2, glitchesPerMinute: rate.perMinute,
                basis: Basis(rate), lateShare: forecast.lateShare(atDepth: depth))
        }
        self.dials = dials.map { row($0, forecast.depth(for: $0)) }
        depths = known.map { row(nil, $0) }
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
    /// Returns the rates of depths as text: `0.3 at 8 ms, 0.01 at 12 ms`.
    private static func words(_ rows: [Row]) -> String {
        rows.map { "\($0.rate) at \($0.depthWords)" }.joined(separator: ", ")
    }

    /// Returns the rates around a depth in milliseconds: the one below, its own, and two above.
    func words(around depthMs: Double) -> String {
        let own = depths.lastIndex { $0.depthMs <= depthMs } ?? 0
        return Self.words(Array(depths[max(0, own - 1)...min(depths.count - 1, own + 2)]))
    }

    /// The rates from the last hopeless depth to the first with an upper bound only; at most eight.
    var words: String {
        let hopeless = depths.lastIndex { $0.glitchesPerMinute > 300 } ?? 0
        let bound = depths[hopeless...].firstIndex { $0.basis == .fewerThan } ?? depths.count - 1
        return Self.words(Array(depths[hopeless...bound].prefix(8)))
    }
}
