// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The report of `earshot monitor --json` at the end, in milliseconds unless named otherwise.
struct MonitorReport: Codable, CommandReport {
    /// The delay from mouth to ear that the device and the effects state.
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

    /// The recorded file.
    struct Recorded: Codable {
        var file: String
        var frames: Int
        /// The number of lost frames, which are silence in the file.
        var lostFrames: Int
    }

    var earshot = CallReport.version
    var device: CallReport.Device
    /// The names of the effects, in order.
    var effects: [String]
    var delay: Delay
    var seconds: Double
    var ended: String
    var recorded: Recorded?
    /// The number of times that feedback was detected and the output lowered by 12 dB.
    var howls: Int
    var routeChanges: [CallReport.RouteChanged]
    var interruptions: [CallReport.Interrupted]
    /// The number of frames lost while the route changed.
    var routeLostFrames: Int
    var callback: CallReport.Callback

    /// Returns the report as three or four lines of text.
    func summary(_ ending: EndReason) -> String {
        var text =
            "Monitor ended after \(Int(seconds)) s\(ending.bracketed()).\n" + delay.summary
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
    var summary: String {
        String(
            format: "Delay: %.1f ms mouth to ear (input %.1f, output %.1f, effects %.1f)", totalMs, inputMs, outputMs,
            effectsMs)
    }
}
