// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The destination of sound, for a command whose `--rate` is another.
struct OutputOptions: ParsableArguments {
    @OptionGroup var card: CardOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions

    @Option(help: ArgumentHelp("Frames a second asked of the device. Default: its own.", valueName: "hertz"))
    var deviceRate: Double?

    func validate() throws { try SystemOptions.check(deviceRate, "--device-rate") }

    /// The same as other commands have it.
    func system() throws -> SystemOptions {
        var system = try SystemOptions.parse([])
        system.card = card
        system.rate = deviceRate
        return system
    }
}
