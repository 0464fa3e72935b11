// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices

/// The options of a simulated card: its events, and its microphone's sound.
struct SimulatedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Audio file to use as the simulated microphone.", valueName: "file"),
        completion: .file())
    var speak: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Clock error of the simulated device, -10000 to 10000 ppm.", valueName: "ppm"))
    var drift = 0.0

    @Option(
        help: ArgumentHelp(
            "Faults of the simulated device: stall@3:2,vanish@6:1 stalls it at 3 s for 2 s and unplugs it at 6 s for 1 s.",
            valueName: "list"))
    var cardScript: CardScript?

    func validate() throws {
        guard abs(drift) <= 10_000 else { throw ValidationError("--drift must be -10000 to 10000 ppm") }
    }

    func check(_ device: AudioBackend?) throws {
        guard device != .simulated else { return }
        if speak != nil { throw ValidationError("--speak needs --device simulated") }
        if drift != 0 { throw ValidationError("--drift needs --device simulated") }
        if cardScript != nil { throw ValidationError("--card-script needs --device simulated") }
    }
}
