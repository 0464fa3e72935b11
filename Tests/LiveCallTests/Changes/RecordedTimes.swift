// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotCall

/// Checks the times of a recording's blocks: no frame is missing or twice, and the device's counter follows the clock through a
/// change of the device.
struct RecordedTimes {
    /// The seconds by which counter and clock may differ: cards drift, a converter holds some frames, and a card that begins
    /// before the last block of the earlier one has ended leaves the counter ahead until the next card.
    private static let limit = 0.004
    private var voicesEnd: Int64?
    private var localEnd: Int64?
    private var first: CallCycle?
    private(set) var faults: [String] = []

    /// Adds a block of the remote voices, of which the device's gaps are parts.
    mutating func addVoices(_ cycle: CallCycle) {
        if let end = voicesEnd, cycle.sampleTime != end {
            faults.append("recorded voices continue at \(cycle.sampleTime), not at \(end)")
        }
        voicesEnd = cycle.sampleTime + Int64(cycle.frameCount)
    }

    /// Adds a block of the local voice, before which frames may be missing.
    mutating func addLocalVoice(_ cycle: CallCycle) {
        if let end = localEnd, cycle.sampleTime < end {
            faults.append("the recorded local voice returns to \(cycle.sampleTime) from \(end)")
        }
        localEnd = cycle.sampleTime + Int64(cycle.frameCount)
        guard let first else { return self.first = cycle }
        let counted = Double(cycle.sampleTime - first.sampleTime) / ChangedCall.rate
        let passed = cycle.hostTime.seconds(since: first.hostTime)
        guard abs(passed - counted) > Self.limit else { return }
        faults.append("the recorded local voice is \(passed - counted) s off the clock")
    }
}
