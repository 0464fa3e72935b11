// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the sound devices, and what comes and goes.",
        discussion: """
            Without --device all sound systems that run here are looked at: PipeWire, JACK and ALSA. The name of a device, a
            part of it, or the id under it is what --input and --output of other commands take.
            """)

    @Option(help: "The sound system: pipewire, jack, alsa or simulated. Default: all that run but simulated.")
    var device: AudioBackend?

    @Option(
        help: ArgumentHelp("JACK: the server's name; else JACK_DEFAULT_SERVER or the default one.", valueName: "name"))
    var jackServer: String?

    @Flag(help: "Go on, and tell of devices that come, go or change, and of changed defaults, until Ctrl-C.")
    var watch = false

    @Flag(help: "Print one JSON document; with --watch one JSON object a line.")
    var json = false

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
            if let missing = DeviceListing.whatIsMissing(listings) { throw missing }
        }
    }

    /// `--jack-server` alone means JACK.
    private func openSystems() throws -> [any AudioSystem] {
        if let backend = device ?? (jackServer == nil ? nil : .jack) {
            return [try AudioSystems.make(backend, server: backend == .jack ? jackServer : nil)]
        }
        return AudioSystems.preference.compactMap { try? AudioSystems.make($0) }
    }
}
