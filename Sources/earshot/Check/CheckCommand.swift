// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall

struct CheckCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the microphone and the headphones before a call.",
        discussion: """
            Plays two ticks, records two seconds, says if the microphone is silent, too quiet or clipping, and plays the recording: you sound like this. Enter accepts the devices. Before the first call on a device, host and join begin with this check on a terminal, unless --no-check is given.
            """)

    static let examples = [
        CommandExample("Check the devices of the next call", "earshot check"),
        CommandExample("Check a headset by name", "earshot check --microphone headset --speaker headset"),
    ]

    @OptionGroup(title: "Audio device")
    var card: DeviceOptions

    @OptionGroup(title: "Simulated device")
    var simulated: SimulatedOptions

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws { try simulated.check(card.device) }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let keys = Terminal.isInteractive ? KeyboardInput() : nil
            let card = try CheckCard(self)
            defer { card.close() }
            try card.start()
            let runner = SoundCheckRunner(card.calls, keys: keys)
            let result = try runner.run()
            if json { try Terminal.output(CheckReport(result, card.report).json()) }
            switch result.decision {
            case .accepted, .skipped: Terminal.say(runner.rememberDevice(result))
            case .cancelled: throw ExitCodes.cancelled
            case .interrupted: throw ExitCodes.interrupted
            case .undecided:
                guard let finding = result.finding, !finding.isFine else { return }
                throw Failure(SoundCheckSentences.text(finding, hasKeys: false), status: Failure.unavailable)
            }
        }
    }
}
