// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options of the sound system and the loudspeaker, for a command that only plays.
struct OutputOptions: ParsableArguments {
    @OptionGroup var card: CardOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions

    @Option(help: ArgumentHelp("Sample rate of the device in Hz. [default: the device's]", valueName: "hertz"))
    var rate: Double?

    func validate() throws { try SystemOptions.check(rate, "--rate") }

    /// Returns the options of the sound system as ``SystemOptions``, the form that other commands use.
    func system() throws -> SystemOptions {
        var system = try SystemOptions.parse([])
        system.card = card
        system.rate = rate
        return system
    }
}
