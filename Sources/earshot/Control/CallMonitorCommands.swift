// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall

struct SetCallMonitor: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Hear yourself in the call: auto, on, off or equal.",
        discussion: "Others hear you as before. To mute yourself: earshot call mute")

    static let examples = [CommandExample("Hear yourself, with your effects", "earshot call monitor on")]

    @Argument(
        help:
            "auto (with headphones, if the round trip is below 15 ms), on, off, or equal (as late as you hear the others)."
    )
    var mode: MonitorMode

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which a call chooses the monitor.
    private static let timeout = 2.0

    func command(_ status: StatusDocument) -> LiveCallCommand { .setMonitor(mode) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        let asked = "Monitor: \(mode.rawValue)"
        guard status.sound.state == "running", let monitor = status.monitor else { return asked }
        if monitor.mode == mode.rawValue { return MonitorSentences.text(monitor) }
        let event = try client.event(within: Self.timeout) { kind, _ in kind == .monitor }
        return event?.monitor.map { MonitorSentences.text($0) } ?? asked
    }
}

struct SetPushToTalk: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "talk", abstract: "Turn push to talk on or off.",
        discussion:
            "In the call's terminal, Space then talks while it is held. Elsewhere: earshot call unmute, and mute.")

    static let examples = [
        CommandExample("Talk only while you hold Space in the call's terminal", "earshot call talk on")
    ]

    enum State: String, CaseIterable, ExpressibleByArgument { case on, off }

    @Argument(help: "on or off.")
    var state: State

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setPushToTalk(state == .on) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        "Push to talk: \(state.rawValue)"
    }
}
