// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall
import EarshotPlayout
import EarshotRooms
import Foundation

/// The report of `forecast`: the link from each participant, and the effect of each dial on that link.
struct ForecastReport: Encodable {
    /// A remote participant.
    struct Peer: Encodable {
        var name: String
        /// The fingerprint of the participant's key; nil for a browser.
        var key: String?
        var codec: String
        var rate: Double
        var channels: Int
        var packetMs: Double
        var packets: Int
        var lost: Int
        /// The delay from the participant without jitter buffer and local sound card: packet, codec and half the round trip. It
        /// is nil while the round trip is unknown.
        var wayMs: Double?
        var roundTripMs: Double?
        var driftPPM: Double
        var forecast: LinkForecast
    }

    var earshot = CallReport.version
    var room: String
    var peers: [Peer]
    /// The room as the user typed it; the room's name if the user chose from a list.
    private let asked: String
    /// The seconds from the arrival of the first sound to the end of the measurement.
    private let seconds: Double

    private enum CodingKeys: CodingKey { case earshot, room, peers }

    init(
        _ room: String, asked: String, seconds: Double,
        _ measured: [(participant: Participant, statistics: CallStatistics)],
        dials: [LatencyProfile]
    ) {
        self.room = room
        self.asked = asked
        self.seconds = seconds
        peers = measured.compactMap { Peer($0.participant, $0.statistics, dials) }
    }

    /// Returns the report as text.
    func text(dials: [LatencyProfile]) -> String {
        peers.map { $0.text(after: seconds) + "\n" }.joined() + advice(dials)
    }

    /// Returns the command to type next, with the fastest dial that has at most one glitch per minute from every participant. If
    /// there is no such dial, returns advice to improve the network or to measure longer.
    private func advice(_ dials: [LatencyProfile]) -> String {
        let goodIndex = dials.indices.first { index in
            peers.allSatisfy { $0.forecast.dials[index].glitchesPerMinute <= 1 }
        }
        let dial = goodIndex ?? dials.count - 1
        let command = "earshot join \(HostCommand.quoted(asked)) --dial \(dials[dial])"
        if goodIndex != nil { return "Shortest delay with at most one glitch per minute: \(command)\n" }
        // If no glitch was seen, the rate is a cautious estimate, which a longer measurement may lower.
        let isSeen = peers.contains { $0.forecast.dials[dial].basis == .seen }
        return isSeen || seconds >= 600
            ? "No dial has less than one glitch per minute here. Try a cable, another Wi-Fi channel, or fewer programs on the "
                + "network. The best: \(command)\n"
            : "Too short to predict fewer than one glitch per minute. Measure longer: earshot forecast "
                + "\(HostCommand.quoted(asked)) --duration \(Int(min(600, max(60, 4 * seconds))))s\n"
    }
}

extension ForecastReport.Peer {
    /// - Returns: nil if the link was observed for less than a second.
    fileprivate init?(_ member: Participant, _ statistics: CallStatistics, _ dials: [LatencyProfile]) {
        guard let forecast = LinkForecast(statistics.forecast, dials: dials) else { return nil }
        let (configuration, rtp) = (statistics.configuration, statistics.media.rtp)
        let frames = max(1, statistics.playout.framesPerPacket)
        self.init(
            name: member.name.text, key: member.key?.hex, codec: configuration.codec.rawValue,
            rate: configuration.streamRate, channels: configuration.channelCount,
            packetMs: Double(frames) / configuration.streamRate * 1e3, packets: rtp.packetsReceived,
            lost: max(0, rtp.packetsMissing),
            wayMs: rtp.roundTrip.map { (configuration.codecDelay(framesPerPacket: frames) + $0 / 2) * 1e3 },
            roundTripMs: rtp.roundTrip.map { $0 * 1e3 }, driftPPM: statistics.playout.driftPPM, forecast: forecast)
    }

    /// Returns the measurement of the participant's link as a few lines and a table of the dials.
    fileprivate func text(after seconds: Double) -> String {
        let share = Double(lost) / Double(max(1, packets + lost)) * 100
        let name = TerminalText.sanitized(name)
        let way =
            wayMs.map {
                "delay from \(name) about \(String(format: "%.0f", $0)) ms, without your audio device and the buffer (round trip "
                    + String(format: "%.1f ms)", roundTripMs ?? 0)
            } ?? "delay from \(name) not known yet"
        let rows = forecast.dials.map { row in
            [
                row.dial ?? "", row.depthWords, (row.basis == .extrapolated ? "about " : "") + "\(row.rate)",
                String(format: "%.2g %%", row.lateShare * 100),
            ]
        }
        let table = TextTable(["DIAL", "ADDS", "GLITCHES PER MINUTE", "LATE"], rows).text(
            hasColour: Terminal.outputHasColour)
        let lost = "\(lost) lost" + (lost > 0 ? String(format: " (%.2g %%, before repair)", share) : "")
        let lines =
            [
                "\(name): \(packets) packets of \(String(format: "%.3g", packetMs)) ms (\(codec)) in "
                    + String(format: "%.0f s, ", seconds) + lost,
                way + "; the buffer adds:",
            ]
            + table.split(separator: "\n").map { "    " + $0 } + ["predicted glitches per minute: \(forecast.summary)"]
        return lines.joined(separator: "\n") + "\n"
    }
}
