// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EngineMeasures

extension Report {
    /// Measures a thousand edits per minute of a playing graph, on virtual time.
    static func edits(minutes: Int) throws -> [Report] {
        let storm = try EditStorm.run(seconds: minutes * 60, seed: 4)
        let whole = "\(storm.edits) edits in \(minutes) minutes, \(storm.refused) refused as they must be"
        for missed in storm.missed { print("edits: missed: \(missed)") }
        return [
            Report("\(whole), missed", Double(storm.missed.count), "", .atMost(0), against: "what was asked for"),
            Report("the same, heard above 2 kHz", storm.clickLevel, "dBFS", .atMost(-60), against: "silence"),
            Report(
                "the same, sources in \(storm.pauses.count) pauses, from what is due", storm.pauses.error, "dBFS",
                .atMost(-80), against: "the product of the gains on every way"),
            Report(
                "the same, an untouched tone, least level", storm.toneLevels.least, "dB", .atLeast(-1),
                against: "its level"),
            Report(
                "the same, the sound at the end", storm.finalError, "dB", .atMost(-50),
                against: "an engine made for that graph"),
        ]
    }
}
