// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices

struct DevicesCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List audio devices, or watch them change.",
        discussion: """
            Lists the devices of PipeWire, JACK and ALSA. --microphone and --speaker of other commands take a device's name, a part of it, or its id.
            """)

    static let examples = [
        CommandExample("List all devices", "earshot devices"),
        CommandExample("Report changes as JSON", "earshot devices --watch --json"),
    ]

    @Option(
        name: .lettered("device"),
        help: "Audio system: pipewire, jack, alsa or simulated. [default: all that run, except simulated]")
    var device: AudioBackend?

    @Option(
        help: ArgumentHelp("JACK server. [default: JACK_DEFAULT_SERVER, or the default server]", valueName: "name"))
    var jackServer: String?

    @Flag(help: "Keep running and report changes of devices and defaults until Ctrl-C.")
    var watch = false

    @Flag(name: .lettered("json"), help: "Print one JSON document; with --watch, one JSON object per line.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let systems = try openSystems()
            if watch { return try DeviceWatch(systems, isJSON: json).run() }
            let listings = systems.map(DeviceListing.init)
            if json {
                try Terminal.output(DeviceReport(listings).json())
            } else {
                try Terminal.output(DeviceTable(listings, hasColour: Terminal.outputHasColour).text)
            }
            if let missing = DeviceListing.noDeviceFailure(listings) { throw missing }
        }
    }

    /// Opens the requested sound system, otherwise every system that can be opened. `--jack-server` alone requests JACK.
    private func openSystems() throws -> [any AudioSystem] {
        if let backend = device ?? (jackServer == nil ? nil : .jack) {
            return [try AudioSystems.make(backend, server: backend == .jack ? jackServer : nil)]
        }
        return AudioSystems.preference.compactMap { try? AudioSystems.make($0) }
    }
}
