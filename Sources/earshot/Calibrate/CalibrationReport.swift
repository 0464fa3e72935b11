// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics

/// The report of `earshot calibrate --json`.
struct CalibrationReport: Codable {
    var earshot = CallReport.version
    var device: CallReport.Device
    /// `air` or `cable`.
    var path: String
    /// The assumed or given distance; nil by cable.
    var distanceCm: Double?
    /// The round trip that the device reports.
    var reportedMs: Double
    /// The measured round trip without the path; nil if nothing was measured.
    var roundTripMs: Double?
    /// The measured round trip minus the reported one.
    var differenceMs: Double?
    var uncertaintyMs: Double?
    /// The difference between the longest and the shortest of the agreeing sweeps.
    var spreadMs: Double?
    /// The reason that nothing was measured: `noEcho`, `noise`, `clipping`, `silence`, `unstable` or `lostFrames`.
    var refused: String?

    init(
        _ command: CalibrateCommand, _ device: CallReport.Device, _ result: Result<DelayCalibration, CalibrationError>,
        reported: Double
    ) {
        self.device = device
        path = command.path.rawValue
        if case .air(let distance, _) = command.loopPath { distanceCm = distance * 100 }
        reportedMs = reported * 1e3
        switch result {
        case .success(let found):
            roundTripMs = found.roundTrip * 1e3
            differenceMs = (found.roundTrip - reported) * 1e3
            uncertaintyMs = found.uncertainty * 1e3
            spreadMs = found.spread * 1e3
        case .failure(let error): refused = error.name
        }
    }
}
