// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms
import Foundation

struct ForecastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forecast", abstract: "Measure the way to a room for some seconds, and say which dial suits it.",
        discussion: """
            It joins as a silent guest, with a simulated sound card, listens for --seconds to what those in the room send,
            and says what each dial would make of it: the delay that it adds, and glitches a minute. The room is named as
            for join. Nobody's microphone is used here; those in the room see a guest come and go.

            earshot forecast 192.168.1.20
            earshot forecast 'Blue Room' --seconds 60
            """)

    @Argument(
        help:
            "A room's NAME, ADDRESS, ADDRESS:PORT, [IPv6]:PORT, HOST, HOST:PORT, or a join code. Default: shows which there are."
    )
    var room: String?

    @Option(
        help: ArgumentHelp(
            "How long to measure, 2 to 600; the rarer a glitch, the longer it takes to see one.", valueName: "seconds")
    )
    var seconds = 10.0

    @OptionGroup var entrance: JoinOptions

    @OptionGroup var own: RoomOptions

    @Option(
        help: ArgumentHelp(
            "The port for signalling (TCP) and sound (UDP); another where it is taken. Default: 47400.",
            valueName: "port"))
    var port: UInt16?

    @OptionGroup(title: "What is sent meanwhile") var coding: CodecOptions

    @Flag(help: "Print the forecast as one JSON document.")
    var json = false

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
        guard (2...600).contains(seconds) else { throw ValidationError("--seconds takes 2 to 600") }
        if port == 0 { throw ValidationError("--port takes 1 to 65535") }
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

    /// The presets, and the dial that was asked for where it is none of them.
    private var dials: [PlayoutDial] {
        let presets = PlayoutDial.presets.map(\.dial)
        return (presets.contains(coding.dial) ? presets : presets + [coding.dial]).sorted { $0.position < $1.position }
    }

    /// Into the room, muted. The keys are read until then.
    private func enter() throws -> ForecastRunner {
        let keys = Terminal.isInteractive ? Keys() : nil
        var entrance = entrance
        entrance.purpose = entrance.purpose ?? "to measure the way, without sound"
        var options = try CallOptions.parse(["--device", "simulated"])
        options.coding = coding
        // The dial that waits longest loses no packet that another one would have had.
        options.coding.dial = .listen
        let guest = try GuestCall(entrance, to: room, as: own, port: port, options, keys: keys, isSilent: true)
        return ForecastRunner(guest.presenter, seconds: seconds, dials: dials, room: room ?? guest.roomName)
    }
}
