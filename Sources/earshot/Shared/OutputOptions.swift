// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options of the loudspeaker, for a command whose `--rate` has another meaning.
struct OutputOptions: ParsableArguments {
    @OptionGroup var card: CardOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions

    @Option(help: ArgumentHelp("Sample rate of the device in Hz. [default: the device's]", valueName: "hertz"))
    var rate: Double?

    func validate() throws { try SystemOptions.check(rate, "--rate") }

    /// Returns the system options in the form of other commands.
    func system() throws -> SystemOptions {
        var system = try SystemOptions.parse([])
        system.card = card
        system.rate = rate
        return system
    }
}
