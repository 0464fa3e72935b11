// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics

/// The report of `earshot loopback --json` at the end. Milliseconds, but for what is named otherwise.
struct LoopbackReport: Codable {
    /// Mouth to ear, by what the device states.
    struct Stated: Codable {
        var inputMs: Double
        var outputMs: Double
        /// That was asked for with `--delay`.
        var extraMs: Double
        var totalMs: Double
        /// From output to input where they are joined: without the extra delay.
        var roundTripMs: Double
    }

    /// The results of the probes.
    struct Measured: Codable {
        /// The median.
        var roundTripMs: Double
        var roundTripFrames: Double
        /// Less the stated one.
        var differenceMs: Double
        var spreadMs: Double
        /// Mouth to ear: the round trip and the extra delay.
        var totalMs: Double
        var levelDb: Double
        var inverted: Bool
        /// 0 to 1.
        var confidence: Double
        /// From 1.
        var inputChannel: Int
        var found: Int
        var failed: Int
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    var channels: Int
    var gainDb: Double
    var seconds: Double
    var ended: String
    /// Nil if the device never called.
    var stated: Stated?
    var measured: Measured?
    /// Why nothing was measured though it was asked for.
    var notMeasured: String?
    /// Times that the sound was turned down by 12 dB.
    var howls: Int
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    /// Frames that no callback came for, between two routes.
    var routeLostFrames: Int
    var callback: CallReport.Callback
}

extension LoopbackReport.Stated {
    init(_ delay: ReportedLatency) {
        self.init(
            inputMs: delay.input * 1e3, outputMs: delay.output * 1e3, extraMs: delay.extra * 1e3,
            totalMs: delay.total * 1e3, roundTripMs: delay.roundTrip * 1e3)
    }
}

extension LoopbackReport.Measured {
    init(_ measurement: RoundTripMeasurement, stated: ReportedLatency, rate: Double) {
        self.init(
            roundTripMs: measurement.seconds * 1e3, roundTripFrames: measurement.seconds * rate,
            differenceMs: (measurement.seconds - stated.roundTrip) * 1e3, spreadMs: measurement.spread * 1e3,
            totalMs: (measurement.seconds + stated.extra) * 1e3, levelDb: measurement.levelDecibels,
            inverted: measurement.isInverted, confidence: measurement.confidence,
            inputChannel: (measurement.roundTrips.first?.inputChannel ?? 0) + 1,
            found: measurement.roundTrips.count, failed: measurement.failedProbeCount)
    }
}
