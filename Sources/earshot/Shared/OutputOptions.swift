// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The destination of sound, for a command whose `--rate` is another.
struct OutputOptions: ParsableArguments {
    @OptionGroup var card: CardOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions

    @Option(help: ArgumentHelp("Sample rate of the device in Hz. [default: the device's]", valueName: "hertz"))
    var rate: Double?

    func validate() throws { try SystemOptions.check(rate, "--rate") }

    /// The same as other commands have it.
    func system() throws -> SystemOptions {
        var system = try SystemOptions.parse([])
        system.card = card
        system.rate = rate
        return system
    }
}
