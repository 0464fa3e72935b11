// SPDX-License-Identifier: Apache-2.0

extension LimiterKernel {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "limiter", manufacturer: "earshot"),
            name: "Limiter", summary: "Keeps the sound below a ceiling, also between its samples.",
            parameters: [
                UnitParameter("ceiling", "Ceiling, true peak", .decibels, -24...0, default: -1),
                UnitParameter("release", "Release", .seconds, 0.005...1, default: 0.06),
                UnitParameter("gain", "Gain before", .decibels, -12...36, default: 0),
            ],
            presets: [
                UnitPreset("default", [:]),
                // EBU R 128 allows −1 dB true peak, and −2 dB if a lossy codec follows.
                UnitPreset("before-codec", ["ceiling": -2, "release": 0.1]),
                UnitPreset("voice", ["ceiling": -1, "release": 0.08, "gain": 6]),
                UnitPreset("loud", ["ceiling": -0.5, "release": 0.03, "gain": 9]),
                UnitPreset("gentle", ["ceiling": -1, "release": 0.3]),
            ])
    }
}
