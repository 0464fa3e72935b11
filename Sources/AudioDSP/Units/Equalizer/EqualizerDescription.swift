// SPDX-License-Identifier: Apache-2.0

extension EqualizerKernel {
    /// The shapes of a band, in the order of ``SectionDesign``'s types.
    static let types = [
        "peak", "low-shelf", "high-shelf", "low-pass", "high-pass", "band-pass", "notch", "all-pass",
    ]

    private static let frequencies: [Float] = [80, 150, 300, 600, 1_200, 2_500, 5_000, 10_000]

    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "equalizer", manufacturer: "earshot"),
            name: "Parametric equalizer",
            summary: "Eight bands that raise, lower or cut what lies around, below or above a frequency.",
            parameters: (1...bandCount).flatMap(band)
                + [UnitParameter("gain", "Gain", .decibels, -24...24, default: 0)],
            presets: presets)
    }

    /// Returns a band's parameters. By default the outer bands are shelves and the others peaks, all with 0 dB, which has no
    /// effect.
    private static func band(_ n: Int) -> [UnitParameter] {
        let type: Float = n == 1 ? 1 : n == bandCount ? 2 : 0
        return [
            UnitParameter("band\(n).type", "Band \(n) type", .choice(types), 0...7, default: type),
            UnitParameter(
                "band\(n).frequency", "Band \(n) frequency", .hertz, 20...20_000, default: frequencies[n - 1]),
            UnitParameter("band\(n).gain", "Band \(n) gain", .decibels, -24...24, default: 0),
            UnitParameter("band\(n).q", "Band \(n) Q", .generic, 0.1...18, default: type == 0 ? 1 : 0.707_106_77),
            UnitParameter("band\(n).on", "Band \(n) on", .toggle, 0...1, default: 1),
        ]
    }

    /// A band's settings, with the gain in dB.
    private struct Setting {
        var type: String
        var frequency: Float
        var gain: Float = 0
        var q: Float = 0.707_106_77
    }

    /// - Parameter gain: the overall gain in dB: a boost needs attenuation so that full-scale input stays near full scale.
    private static func preset(_ name: String, gain: Float = 0, _ settings: [Int: Setting] = [:]) -> UnitPreset {
        var values: [String: Float] = gain == 0 ? [:] : ["gain": gain]
        for (n, setting) in settings {
            guard let type = types.firstIndex(of: setting.type) else { preconditionFailure("no \(setting.type)") }
            values["band\(n).type"] = Float(type)
            values["band\(n).frequency"] = setting.frequency
            values["band\(n).gain"] = setting.gain
            values["band\(n).q"] = setting.q
        }
        return UnitPreset(name, values)
    }

    private static var presets: [UnitPreset] {
        [
            preset("flat"),
            // Removes rumble, softens the chest's resonance, makes consonants clearer and adds a little treble.
            preset(
                "voice",
                [
                    1: Setting(type: "high-pass", frequency: 80),
                    3: Setting(type: "peak", frequency: 250, gain: -3, q: 1),
                    6: Setting(type: "peak", frequency: 3_000, gain: 3, q: 0.8),
                    8: Setting(type: "high-shelf", frequency: 10_000, gain: 2),
                ]),
            preset(
                "warmth",
                [
                    1: Setting(type: "low-shelf", frequency: 120, gain: 2),
                    3: Setting(type: "peak", frequency: 250, gain: 2.5, q: 0.7),
                    8: Setting(type: "high-shelf", frequency: 8_000, gain: -2.5),
                ]),
            preset(
                "presence",
                [
                    6: Setting(type: "peak", frequency: 3_500, gain: 4, q: 0.8),
                    7: Setting(type: "peak", frequency: 6_000, gain: 2, q: 1),
                ]),
            preset(
                "de-mud",
                [
                    2: Setting(type: "peak", frequency: 180, gain: -2, q: 1),
                    3: Setting(type: "peak", frequency: 320, gain: -5, q: 1),
                ]),
            // Passes 300 to 3,400 Hz, by Butterworth filters of the fourth order, whose two sections have these values of Q.
            preset(
                "telephone",
                [
                    1: Setting(type: "high-pass", frequency: 300, q: 0.541_196_1),
                    2: Setting(type: "high-pass", frequency: 300, q: 1.306_563),
                    5: Setting(type: "peak", frequency: 1_500, gain: 4, q: 0.8),
                    7: Setting(type: "low-pass", frequency: 3_400, q: 0.541_196_1),
                    8: Setting(type: "low-pass", frequency: 3_400, q: 1.306_563),
                ]),
            preset("bass-boost", gain: -3, [1: Setting(type: "low-shelf", frequency: 110, gain: 7)]),
            preset("treble-boost", gain: -3, [8: Setting(type: "high-shelf", frequency: 6_000, gain: 6)]),
            // Compensates for listening at a low level: raises the bass, and less so the treble.
            preset(
                "loudness", gain: -3,
                [
                    1: Setting(type: "low-shelf", frequency: 90, gain: 7),
                    2: Setting(type: "low-shelf", frequency: 200, gain: 2),
                    8: Setting(type: "high-shelf", frequency: 9_000, gain: 4),
                ]),
        ]
    }
}
