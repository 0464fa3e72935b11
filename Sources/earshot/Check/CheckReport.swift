// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The report of `earshot check --json`.
struct CheckReport: Codable {
    var earshot = CallReport.version
    var device: CallReport.Device
    /// The judgement of the microphone; nil if the check was left before.
    var finding: String?
    /// The RMS level of the loudest 100 ms in dBFS; nil without sound.
    var levelDb: Double?
    var peakDb: Double?
    /// The user's decision; `undecided` without a terminal.
    var decision: String

    init(_ result: SoundCheckRunner.Result, _ device: CallReport.Device) {
        self.device = device
        finding = result.finding?.name
        levelDb = result.finding?.levels?.level
        peakDb = result.finding?.levels?.peak
        decision = result.decision.rawValue
    }
}
