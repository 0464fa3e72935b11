// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices

/// The events of a simulated card, and its microphone's sound.
struct SimulatedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Simulated card: the file its microphone hears (WAV, FLAC, Ogg …).", valueName: "file"),
        completion: .file())
    var speak: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Simulated card: how fast its crystal runs, in parts per million.", valueName: "ppm"))
    var drift = 0.0

    @Option(
        help: ArgumentHelp(
            "Simulated card: what happens to it and when, such as stall@3:2,vanish@6:1 (from 3 s on for 2 s it does not call; at 6 s it is unplugged for 1 s).",
            valueName: "list"))
    var cardScript: CardScript?

    func validate() throws {
        guard abs(drift) <= 10_000 else { throw ValidationError("--drift takes -10000 to 10000 ppm") }
    }

    func check(_ device: AudioBackend?) throws {
        guard device != .simulated else { return }
        if speak != nil { throw ValidationError("--speak belongs to --device simulated") }
        if drift != 0 { throw ValidationError("--drift belongs to --device simulated") }
        if cardScript != nil { throw ValidationError("--card-script belongs to --device simulated") }
    }
}
