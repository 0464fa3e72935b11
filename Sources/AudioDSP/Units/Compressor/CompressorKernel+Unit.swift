// SPDX-License-Identifier: Apache-2.0

extension CompressorKernel {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "compressor", manufacturer: "earshot"),
            name: "Compressor", summary: "Makes loud passages softer, so that the whole can be louder.",
            parameters: [
                UnitParameter("threshold", "Threshold", .decibels, -60...0, default: -20),
                UnitParameter("ratio", "Ratio", .generic, 1...20, default: 3),
                UnitParameter("knee", "Knee", .decibels, 0...24, default: 6),
                UnitParameter("attack", "Attack", .seconds, 0.0001...0.2, default: 0.01),
                UnitParameter("release", "Release", .seconds, 0.005...2, default: 0.15),
                UnitParameter("makeup", "Makeup gain", .decibels, -12...36, default: 0),
                UnitParameter("autoMakeup", "Automatic makeup gain", .toggle, 0...1, default: 0),
            ],
            presets: [
                UnitPreset("default", [:]),
                // Speech varies by 15 dB between syllables; the threshold and the knee leave soft syllables unchanged.
                UnitPreset(
                    "voice",
                    [
                        "threshold": -24, "ratio": 3, "knee": 10, "attack": 0.005, "release": 0.12, "makeup": 6,
                    ]),
                UnitPreset(
                    "singing",
                    [
                        "threshold": -20, "ratio": 2.5, "knee": 12, "attack": 0.015, "release": 0.25, "makeup": 4,
                    ]),
                // A slow attack lets the drumstick's first click pass.
                UnitPreset(
                    "drums",
                    [
                        "threshold": -18, "ratio": 4, "knee": 3, "attack": 0.02, "release": 0.08, "makeup": 4,
                    ]),
                UnitPreset(
                    "glue",
                    [
                        "threshold": -16, "ratio": 2, "knee": 8, "attack": 0.03, "release": 0.3, "makeup": 2,
                    ]),
                UnitPreset(
                    "broadcast",
                    [
                        "threshold": -30, "ratio": 5, "knee": 8, "attack": 0.003, "release": 0.2, "makeup": 10,
                    ]),
            ])
    }
}
