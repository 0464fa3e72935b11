// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import Foundation

struct ShowCall: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the call: room, participants, device and recording.")

    static let examples = [
        CommandExample("Show one of several calls", "earshot call status --pid 4711"),
        CommandExample("Print the names of the participants", "earshot call status --json | jq .participants[].name"),
    ]

    @Flag(name: .lettered("json"), help: "Print one JSON document.")
    var json = false

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            let status = try call.connect().status()
            if json { return try Terminal.output(status.json()) }
            try Terminal.output(CallStatusText(status: status, hasColour: Terminal.outputHasColour).text)
        }
    }
}

struct WatchCall: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print the events of the call until it ends.")

    static let examples = [
        CommandExample("Print the events as sentences", "earshot call watch"),
        CommandExample("Print the name of each event", "earshot call watch --json | jq .event"),
    ]

    @Flag(name: .lettered("json"), help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let client = try call.connect()
            try client.watch()
            if !json { Terminal.say("Watching. Ctrl-C stops.") }
            while !Interrupt.isRequested {
                if Terminal.isOutputClosed { throw ExitCodes.closedPipe }
                guard let line = try client.nextEvent(within: 0.2) else { continue }
                if try show(line) == .ended { return }
            }
            try EndReason.interrupted.throwUnlessSuccessful(endsByInterrupt: true)
        }
    }

    /// Prints an event. Returns its name; nil for an event that this version does not know.
    private func show(_ line: [UInt8]) throws -> EventDocument.Name? {
        let event = CallJSON.decoded(EventDocument.self, from: line)
        if json {
            // The line as it came has the fields that this version does not know.
            try Terminal.output(Data(line + [UInt8(ascii: "\n")]))
        } else if let event, case let text = CallAnswers.text(event), !text.isEmpty {
            try Terminal.output(TerminalText.sanitizedLines("\(ClockTime.text(Date()))  \(text)") + "\n")
        }
        return event.flatMap { EventDocument.Name(rawValue: $0.event) }
    }
}
