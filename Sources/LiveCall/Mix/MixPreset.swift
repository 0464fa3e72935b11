// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// The sound of a mix: the same equalizer and compressor for every voice, and one reverb that all share.
package struct MixPreset: Hashable, Sendable {
    /// The name on the command line.
    package let name: String
    /// One sentence about the sound.
    package let summary: String
    /// The names of the units' presets; nil without the unit.
    let equalizer: String?
    let compressor: String?
    let reverb: String?
    /// The gain from each voice to the reverb, in dB.
    let send: Float
    /// The pan of the outermost voices, 0 to 1: the voices are spread evenly between them.
    let width: Float

    /// All presets; the second is the default.
    package static let all = [
        MixPreset(
            name: "dry", summary: "No effects.", equalizer: nil, compressor: nil, reverb: nil,
            send: 0, width: 0),
        MixPreset(
            name: "natural", summary: "Clearer voices in a small room.", equalizer: "voice", compressor: "glue",
            reverb: "small-room", send: -12, width: 0.25),
        MixPreset(
            name: "room", summary: "Even voices in a large room.", equalizer: "voice", compressor: "singing",
            reverb: "large-room", send: -10, width: 0.35),
        MixPreset(
            name: "stage", summary: "Dense voices, far apart, in a hall.", equalizer: "voice", compressor: "singing",
            reverb: "vocal-hall", send: -8, width: 0.6),
    ]

    package static let standard = all[1]

    /// The preset after this one; the first after the last.
    package var next: MixPreset {
        let index = Self.all.firstIndex(of: self) ?? 0
        return Self.all[(index + 1) % Self.all.count]
    }

    package static func named(_ name: String) -> MixPreset? { all.first { $0.name == name.lowercased() } }

    /// Returns the effects of a voice, in order.
    func makeUnits(sampleRate: Double, channelCount: Int) -> [UnitInstance] {
        [(UnitType.equalizer, equalizer), (.compressor, compressor)].compactMap { type, preset in
            preset.flatMap { Self.makeUnit(type, $0, sampleRate, channelCount)?.unit }
        }
    }

    /// Returns the shared reverb, without dry sound, and the seconds of its tail; nil without reverb.
    func makeReverb(sampleRate: Double) -> (unit: UnitInstance, tail: Double)? {
        guard let reverb, let (unit, presetValues) = Self.makeUnit(.reverb, reverb, sampleRate, 2) else { return nil }
        var values = presetValues
        if let mix = unit.description.index(of: "mix") { values[mix] = 100 }
        unit.set(values)
        let decay = unit.description.index(of: "decay").map { values[$0] } ?? 0
        return (unit, Double(decay))
    }

    private static func makeUnit(
        _ type: UnitType, _ preset: String, _ sampleRate: Double, _ channelCount: Int
    ) -> (unit: UnitInstance, values: [Float])? {
        guard let preset = type.description.presets.first(where: { $0.name == preset }) else { return nil }
        let unit = type.makeUnit(sampleRate: sampleRate, channelCount: channelCount)
        let values = unit.description.values(of: preset)
        unit.set(values)
        return (unit, values)
    }
}
