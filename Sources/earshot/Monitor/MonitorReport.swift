// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The report of `earshot monitor --json` at the end. Milliseconds, but for what is named otherwise.
struct MonitorReport: Codable, CommandReport {
    /// From mouth to ear, as stated by the device and the effects.
    struct Delay: Codable {
        var inputMs: Double
        var outputMs: Double
        var effectsMs: Double
        var totalMs: Double

        init(inputMs: Double, outputMs: Double, effectsMs: Double) {
            self.inputMs = inputMs
            self.outputMs = outputMs
            self.effectsMs = effectsMs
            totalMs = inputMs + outputMs + effectsMs
        }
    }

    /// The file.
    struct Recorded: Codable {
        var file: String
        var frames: Int
        /// Frames of silence that stand for what was lost.
        var lostFrames: Int
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    /// Names, in order.
    var effects: [String]
    var delay: Delay
    var seconds: Double
    var ended: String
    var recorded: Recorded?
    /// Times that the sound was turned down by 12 dB.
    var howls: Int
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    /// Frames that no callback came for, between two routes.
    var routeLostFrames: Int
    var callback: CallReport.Callback

    /// Three lines, or four.
    var summary: String {
        var text =
            "Monitor ended after \(Int(seconds)) s (\(ended)).\n" + delay.words
            + String(
                format: "\n%d xruns, %d frames skipped, callback p99 %.0f µs", callback.xruns, callback.skippedFrames,
                callback.p99Microseconds)
        if let recorded {
            text += "\nRecorded \(recorded.file): \(recorded.frames) frames, \(recorded.lostFrames) of them lost"
        }
        return text
    }
}

extension MonitorReport.Delay {
    var words: String {
        String(
            format: "Delay: %.1f ms mouth to ear (input %.1f, output %.1f, effects %.1f)", totalMs, inputMs, outputMs,
            effectsMs)
    }
}
