// SPDX-License-Identifier: Apache-2.0

extension DelayKernel {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "delay", manufacturer: "earshot"),
            name: "Delay", summary: "Repeats the sound, each time softer and duller.",
            parameters: [
                UnitParameter("time", "Time", .seconds, 0.001...2, default: 0.375),
                UnitParameter("feedback", "Feedback", .percent, -99...99, default: 35),
                // The low-pass filters each repeat after the first; the highest cutoff removes it.
                UnitParameter("cutoff", "Low-pass cutoff", .hertz, 100...20_000, default: 6000),
                UnitParameter("pingPong", "Ping-pong", .toggle, 0...1, default: 0),
                UnitParameter("mix", "Wet/dry mix", .percent, 0...100, default: 30),
            ],
            presets: [
                UnitPreset("echo", [:]),
                UnitPreset("slap", ["time": 0.11, "feedback": 0, "mix": 35]),
                UnitPreset("doubling", ["time": 0.028, "feedback": 0, "mix": 40]),
                UnitPreset("ping-pong", ["time": 0.3, "feedback": 55, "cutoff": 8000, "pingPong": 1, "mix": 35]),
                UnitPreset("tape", ["time": 0.42, "feedback": 50, "cutoff": 2500, "mix": 35]),
                UnitPreset("canyon", ["time": 0.9, "feedback": 60, "cutoff": 3500, "mix": 40]),
                UnitPreset("metallic", ["time": 0.008, "feedback": -75, "cutoff": 20_000, "mix": 50]),
            ])
    }
}
