// SPDX-License-Identifier: Apache-2.0

import Foundation

extension CallReport.Peer {
    /// The lines about a remote participant at the end of a call.
    var summary: [String] {
        let way =
            delay.mouthToEarEstimateMs.map { String(format: "delay about %.0f ms mouth to ear", $0) } ?? "delay unknown"
        var lines = [
            "\(name): \(sent.packets) packets sent, \(received.packets) received, "
                + String(format: "\(received.lost) lost, %.0f ms concealed, ", received.concealedMs) + way
        ]
        guard received.packets > 0 else { return lines }
        lines.append(
            "    \(received.late) late, \(received.recovered) recovered, "
                + String(format: "%.0f ms stretched, ", received.stretchedMs)
                + (received.glitches == 1 ? "1 glitch" : "\(received.glitches) glitches")
                + String(
                    format: " (%.2g per minute), clock difference %+.0f ppm", received.glitchesPerMinute, delay.driftPPM
                )
        )
        lines.append(
            String(
                format: "    buffer %.1f ms, target %.1f ms (dial \(delay.dial))", delay.depthMs, delay.targetDepthMs)
                + (forecast.map { "; predicted glitches per minute: \($0.summary(around: delay.targetDepthMs))" } ?? "")
        )
        return lines
    }
}
