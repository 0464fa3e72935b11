// SPDX-License-Identifier: Apache-2.0

extension UnitType {
    /// Shifts a voice's pitch and formants independently.
    public static let voiceChanger = UnitType(VoiceChangerKernel.self)
}

extension VoiceChangerKernel {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "voice-changer", manufacturer: "earshot"),
            name: "Voice changer",
            summary: "Moves a voice's pitch and formants separately; robot, whisper, and up to two added voices.",
            parameters: [
                UnitParameter("pitch", "Pitch", .semitones, -24...24, default: 0),
                UnitParameter("formant", "Formants", .semitones, -12...12, default: 0),
                UnitParameter("mix", "Mix", .percent, 0...100, default: 100),
                UnitParameter("robot", "Robot", .toggle, 0...1, default: 0),
                UnitParameter("robotPitch", "Robot pitch", .hertz, 50...400, default: 110),
                UnitParameter("whisper", "Whisper", .percent, 0...100, default: 0),
                UnitParameter("harmony1.interval", "Second voice", .semitones, -24...24, default: 4),
                UnitParameter("harmony1.level", "Second voice's level", .decibels, -60...6, default: -60),
                UnitParameter("harmony2.interval", "Third voice", .semitones, -24...24, default: 7),
                UnitParameter("harmony2.level", "Third voice's level", .decibels, -60...6, default: -60),
            ],
            presets: [
                UnitPreset("none", [:]),
                UnitPreset("deep", ["pitch": -4, "formant": -2]),
                UnitPreset("high", ["pitch": 5, "formant": 1.5]),
                UnitPreset("child", ["pitch": 9, "formant": 4.5]),
                UnitPreset("giant", ["pitch": -9, "formant": -6]),
                UnitPreset("robot", ["robot": 1, "robotPitch": 110]),
                UnitPreset("whisper", ["whisper": 100]),
                UnitPreset("harmony", ["harmony1.level": -5, "harmony2.level": -6]),
            ])
    }
}
