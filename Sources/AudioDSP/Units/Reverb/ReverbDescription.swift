// SPDX-License-Identifier: Apache-2.0

extension ReverbKernel {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "reverb", manufacturer: "earshot"),
            name: "Reverb", summary: "Puts the sound into a room.",
            parameters: [
                UnitParameter("preDelay", "Pre-delay", .seconds, 0...0.25, default: 0.02),
                // The time until the tail has fallen by 60 dB, in the middle of the spectrum.
                UnitParameter("decay", "Decay", .seconds, 0.2...10, default: 1.5),
                // `highRatio` and `lowRatio` are the decay times of the highest and of the lowest frequencies, divided by
                // `decay`.
                UnitParameter("highRatio", "Damping: decay ratio of highs", .generic, 0.1...1, default: 0.45),
                UnitParameter("highFrequency", "Damping frequency", .hertz, 1000...16_000, default: 5000),
                UnitParameter("lowRatio", "Decay ratio of lows", .generic, 0.25...2, default: 0.8),
                // The mean distance between two reflections. In smaller rooms single modes would ring, larger ones become dense
                // slowly.
                UnitParameter("size", "Size", .metres, 12...26, default: 14),
                UnitParameter("width", "Width", .percent, 0...100, default: 100),
                UnitParameter("mix", "Wet/dry mix", .percent, 0...100, default: 25),
            ],
            presets: [
                // For singers: dark, so that sibilants stay dry; thin in the bass; with a pre-delay, so that words stay clear.
                UnitPreset("vocal", [:]),
                UnitPreset("vocal-plate", room(0.03, 1.8, high: 0.6, at: 7000, low: 0.6, 12, mix: 25)),
                UnitPreset("vocal-hall", room(0.045, 2.6, high: 0.4, at: 4500, low: 0.8, 22, mix: 25)),
                UnitPreset("small-room", room(0.002, 0.4, high: 0.6, at: 6000, low: 0.9, 12, mix: 30)),
                UnitPreset("medium-room", room(0.005, 0.7, high: 0.55, at: 6000, low: 0.95, 12, mix: 30)),
                UnitPreset("large-room", room(0.01, 1.1, high: 0.5, at: 5500, low: 1, 14, mix: 30)),
                UnitPreset("medium-hall", room(0.02, 1.9, high: 0.45, at: 5000, low: 1.1, 17, mix: 35)),
                UnitPreset("large-hall", room(0.03, 2.8, high: 0.4, at: 4500, low: 1.15, 24, mix: 35)),
                UnitPreset("plate", room(0, 2, high: 0.75, at: 8000, low: 0.7, 12, mix: 35)),
                UnitPreset("medium-chamber", room(0.01, 1.3, high: 0.7, at: 6500, low: 0.9, 12, mix: 35)),
                UnitPreset("large-chamber", room(0.015, 2.1, high: 0.65, at: 6000, low: 0.95, 15, mix: 35)),
                UnitPreset("cathedral", room(0.04, 6, high: 0.3, at: 4000, low: 1.2, 26, mix: 40)),
            ])
    }

    private static func room(
        _ preDelay: Float, _ decay: Float, high: Float, at frequency: Float, low: Float, _ size: Float, mix: Float
    ) -> [String: Float] {
        [
            "preDelay": preDelay, "decay": decay, "highRatio": high, "highFrequency": frequency, "lowRatio": low,
            "size": size, "mix": mix,
        ]
    }
}
