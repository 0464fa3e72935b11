// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioEngine

/// The option for effects of the local voice, shared by `host`, `join` and `monitor`.
struct EffectOptions: ParsableArguments {
    @Option(
        name: .lettered("effect"),
        help: ArgumentHelp(
            "Apply an effect to the voice: NAME[:preset][,parameter=value…], such as reverb:large-hall,mix=20. LV2 plug-in: lv2:URI. Repeat to chain.",
            valueName: "effect"))
    var descriptions: [String] = []

    func validate() throws { _ = try effects() }

    /// Returns new effects, in order.
    func effects() throws -> [AudioUnitEffect] { try descriptions.map { try Self.effect($0) } }

    /// Returns a new effect from the option's value.
    static func effect(_ text: String) throws(ValidationError) -> AudioUnitEffect {
        do throws(AudioEngineError) {
            return try AudioUnitEffect.effect(parsing: text)
        } catch {
            throw ValidationError("--effect \(text): \(ErrorText.text(error))")
        }
    }
}
