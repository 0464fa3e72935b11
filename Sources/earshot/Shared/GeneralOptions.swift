// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options that all commands share. `EarshotCommand` reads them before the command is parsed.
struct GeneralOptions: ParsableArguments {
    @Flag(help: "Print events as sentences for a screen reader; nothing is redrawn or coloured.")
    var plain = false

    @Flag(help: "Ignore the configuration file.")
    var noConfig = false
}
