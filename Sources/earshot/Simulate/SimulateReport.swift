// SPDX-License-Identifier: Apache-2.0

import EarshotSimulation
import Foundation

/// The output of `simulate`: the simulation's report, and its options.
struct SimulateReport: Encodable {
    private let network: String
    private let inputs: [String]
    private let output: String?
    private let isInterrupted: Bool
    private let report: SimulationReport

    init(_ command: SimulateCommand, _ report: SimulationReport) {
        network = command.network.name
        inputs = command.input
        output = command.output
        isInterrupted = Interrupt.isRequested
        self.report = report
    }

    private enum Key: CodingKey { case earshot, network, inputs, output, ended }

    /// Encodes the simulation's report and the options as one object.
    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(CallReport.version, forKey: .earshot)
        try container.encode(network, forKey: .network)
        try container.encode(inputs, forKey: .inputs)
        try container.encodeIfPresent(output, forKey: .output)
        try container.encode(isInterrupted ? "interrupted" : "over", forKey: .ended)
    }

    /// The report as text: all measurements for a call of two peers; one line for each stream of a larger call.
    var text: String {
        let measuredSeconds = report.seconds - report.measuredFromSeconds
        var lines = [
            Self.line(
                "call",
                "\(report.peers.count) peers, \(network), \(SimulateCommand.number(report.seconds)) s"
                    + (measuredSeconds < report.seconds
                        ? String(format: ", counted from %.6g s on", report.measuredFromSeconds) : "")
                    + ", seed \(report.seed)" + (report.isEncrypted ? ", encrypted" : ""))
        ]
        for peer in report.peers {
            lines.append(
                Self.line(
                    "peer \(peer.number)",
                    "\(SimulateCommand.number(peer.rate)) Hz, blocks of \(peer.block) frames"
                        + (peer.driftPPM == 0 ? "" : String(format: ", %+g ppm", peer.driftPPM))))
        }
        for stream in report.streams {
            lines += report.peers.count == 2 ? Self.details(stream) : [Self.summary(stream)]
        }
        if let output { lines.append(Self.line("output", "\(output)/peer-…-mic.wav, peer-…-heard.wav")) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ head: String, _ text: String) -> String {
        head + String(repeating: " ", count: max(1, 10 - head.count)) + text
    }

    private static func details(_ stream: SimulationReport.Stream) -> [String] {
        let packet = Double(stream.packetFrames) / stream.rate * 1e3
        var lines = [
            line(
                "\(stream.from) to \(stream.to)",
                "\(stream.codec), packets of " + String(format: "%.4g ms, %.1f kb/s", packet, stream.kilobitsPerSecond)
                    + String(format: " (payload %.1f)", stream.payloadKilobitsPerSecond))
        ]
        if let words = adaptation(stream) { lines.append(line("", words)) }
        guard let delay = stream.mouthToEarMs else { return lines + [line("", "nothing was heard")] }
        lines.append(
            line("", String(format: "%.1f ms mouth to ear (p95 %.1f, max %.1f)", delay.p50, delay.p95, delay.max)))
        if let network = stream.networkMs {
            lines.append(
                line(
                    "",
                    String(
                        format: "%.1f ms of network (least %.1f, p99 %.1f, max %.1f)", network.p50, network.least,
                        network.p99, network.max)))
        }
        if let depth = stream.depthMs, let target = stream.targetDepthMs {
            lines.append(
                line(
                    "",
                    String(
                        format: "%.1f ms in the jitter buffer (p95 %.1f, max %.1f), wanted %.1f", depth.p50, depth.p95,
                        depth.max, target.p50)))
        }
        lines.append(
            line(
                "",
                "\(stream.packetsSent) packets sent, \(stream.packetsLost) lost, "
                    + (stream.packetsOverflowed > 0 ? "\(stream.packetsOverflowed) of them in a full queue, " : "")
                    + "\(recovered(stream)), \(stream.packetsLate) late, \(stream.packetsMissing) missing"))
        lines.append(
            line(
                "",
                "\(stream.concealedFrames) frames concealed "
                    + String(format: "(%.3g %%), ", 100 * stream.concealedShare)
                    + "\(stream.droppedFrames) left out, \(stream.insertedFrames) added"))
        lines.append(
            line(
                "",
                String(format: "%.4g glitches a minute, drift %+.1f ppm", stream.glitchesPerMinute, stream.driftPPM)))
        return lines
    }

    /// Returns the text about the adaptation to a slow link; nil if there was none.
    private static func adaptation(_ stream: SimulationReport.Stream) -> String? {
        guard stream.stepsDown > 0 || stream.isLinkTooSlow else { return nil }
        let steps = "the link was too slow: steps down \(stream.stepsDown), up again \(stream.stepsUp)"
        guard stream.isLinkTooSlow else { return steps }
        return (stream.stepsDown > 0 ? steps + "; " : "") + "the link was too slow for the least that could be sent"
    }

    private static func recovered(_ stream: SimulationReport.Stream) -> String {
        let (onRequest, codec) = (stream.packetsRecoveredByRequest, stream.packetsRecoveredByCodec)
        let ways = [
            (stream.packetsRecovered - onRequest - codec, "by copies"), (onRequest, "on request"),
            (codec, "by the codec"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(stream.packetsRecovered) recovered" + (ways.isEmpty ? "" : " (\(ways.joined(separator: ", ")))")
    }

    private static func summary(_ stream: SimulationReport.Stream) -> String {
        let head = "\(stream.from) to \(stream.to)"
        guard let delay = stream.mouthToEarMs, let depth = stream.depthMs else {
            return line(head, "nothing was heard")
        }
        return line(
            head,
            String(
                format: "%.1f ms mouth to ear (p95 %.1f, max %.1f), buffer %.1f ms, ", delay.p50, delay.p95, delay.max,
                depth.p50)
                + "\(stream.packetsLost) lost, \(stream.packetsRecovered) recovered, \(stream.packetsLate) late, "
                + String(
                    format: "%.3g %% of the sound concealed, %.4g glitches a minute", 100 * stream.concealedShare,
                    stream.glitchesPerMinute))
    }
}
