// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms
import Foundation

struct ForecastCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "forecast", abstract: "Listen to a room briefly and recommend a --dial.",
        discussion: """
            Joins as a silent guest, listens, and predicts for each --dial the delay and the dropouts per minute. Your microphone is not used.
            """)

    static let examples = [
        CommandExample("Measure for 10 s", "earshot forecast 192.168.1.20"),
        CommandExample("Measure a room by name", "earshot forecast 'Blue Room'"),
    ]

    @Argument(
        help:
            "Name, address, address:port, [IPv6]:port, host, host:port or join code of a room. [default: choose from a list]"
    )
    var room: String?

    @Option(
        help: ArgumentHelp(
            "How long to measure, 2s to 10m. Measure longer to catch rare dropouts. [default: 10s]", valueName: "time"),
        transform: TimeArgument.above0)
    var duration = 10.0

    @OptionGroup var entrance: JoinOptions

    @OptionGroup var own: RoomOptions

    @OptionGroup var listening: GuestPortOption

    @OptionGroup(title: "Codec and delay") var coding: CodecOptions

    @Flag(name: .lettered("json"), help: "Print one JSON document.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
        guard (2...600).contains(duration) else { throw ValidationError("--duration must be 2s to 10m") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let runner = try enter()
            let report = try runner.run()
            try Terminal.output(json ? report.json() : report.text(dials: dials))
            if Interrupt.isRequested { throw ExitCodes.interrupted }
        }
    }

    /// The preset dials, and the requested dial if it is not a preset, in ascending order.
    private var dials: [LatencyProfile] {
        let presets = LatencyProfile.presets.map(\.profile)
        let own = coding.latencyProfile
        return (presets.contains(own) ? presets : presets + [own]).sorted { $0.position < $1.position }
    }

    /// Joins the room as a silent guest.
    private func enter() throws -> ForecastRunner {
        let keys = Terminal.isInteractive ? KeyboardInput() : nil
        var entrance = entrance
        entrance.purpose = entrance.purpose ?? "to measure the way, without sound"
        var options = try CallOptions.parse(["--device", "simulated"])
        options.coding = coding
        // The dial with the longest jitter buffer loses no packet that would be in time with another dial.
        options.coding.dial = .listen
        let guest = try GuestCall(
            entrance, to: room, as: own, port: listening.port, options, keys: keys, isSilent: true)
        return ForecastRunner(
            guest.presenter, seconds: duration, dials: dials, room: room ?? guest.roomName, keys: keys)
    }
}
