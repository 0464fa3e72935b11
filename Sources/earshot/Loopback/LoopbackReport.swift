// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics

/// The report of `earshot loopback --json` at the end, in milliseconds unless named otherwise.
struct LoopbackReport: Codable {
    /// The delays that the device reports, and the extra delay.
    struct Stated: Codable {
        var inputMs: Double
        var outputMs: Double
        /// The delay requested by `--delay`.
        var extraMs: Double
        var totalMs: Double
        /// The delay from the output to a connected input, without the extra delay.
        var roundTripMs: Double
    }

    /// The results of the probes.
    struct Measured: Codable {
        /// The median round trip.
        var roundTripMs: Double
        var roundTripFrames: Double
        /// The measured round trip minus the stated one.
        var differenceMs: Double
        var spreadMs: Double
        /// The delay from mouth to ear: the round trip and the extra delay.
        var totalMs: Double
        var levelDb: Double
        var inverted: Bool
        /// The confidence, 0 to 1.
        var confidence: Double
        /// The number of the input channel that captured the probe, from 1.
        var inputChannel: Int
        /// The number of probes that found the loop.
        var found: Int
        /// The number of probes that found no loop.
        var failed: Int
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    var channels: Int
    var gainDb: Double
    var seconds: Double
    var ended: String
    /// The stated delays; nil if the device never called.
    var stated: Stated?
    var measured: Measured?
    /// The reason that a requested measurement failed; nil if it succeeded or was not requested.
    var notMeasured: String?
    /// The number of times that feedback was detected and the output lowered by 12 dB.
    var howls: Int
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    /// The number of frames lost while the route changed.
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
