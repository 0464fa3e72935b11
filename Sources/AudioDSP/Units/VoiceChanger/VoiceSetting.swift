// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A voice changer's parameters, converted for processing.
struct VoiceSetting: BitwiseCopyable {
    /// The share of the changed sound in the output, 0 to 1.
    private(set) var mix: Float = 1
    /// The ratio of the formants' new frequencies to the input's.
    private(set) var formant = 1.0
    /// The frames between the grains of a robot's voice; 0 without a robot.
    private(set) var robotSpacing = 0.0
    /// The share of the whisper, 0 to 1.
    private(set) var whisper: Float = 0
    private var pitch = 1.0  // the ratio of the new pitch to the input's
    private var firstInterval = 1.0  // the ratio of an added voice's pitch to the first voice's
    private var secondInterval = 1.0
    private var firstLevel: Float = 0
    private var secondLevel: Float = 0

    /// True if the settings leave the sound unchanged, whatever the mix.
    var isNeutral: Bool {
        @_noLocks get {
            pitch == 1 && formant == 1 && robotSpacing == 0 && whisper == 0 && firstLevel == 0 && secondLevel == 0
        }
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int {
        case pitch, formant, mix, robot, robotPitch, whisper, firstInterval, firstLevel, secondInterval, secondLevel
    }

    @_noLocks
    mutating func read(_ values: UnsafePointer<Float>, sampleRate: Double) {
        pitch = Self.ratio(values[Parameter.pitch.rawValue])
        formant = Self.ratio(values[Parameter.formant.rawValue])
        robotSpacing =
            values[Parameter.robot.rawValue] >= 0.5 ? sampleRate / Double(values[Parameter.robotPitch.rawValue]) : 0
        mix = values[Parameter.mix.rawValue] / 100
        whisper = values[Parameter.whisper.rawValue] / 100
        firstInterval = Self.ratio(values[Parameter.firstInterval.rawValue])
        firstLevel = Self.factor(values[Parameter.firstLevel.rawValue])
        secondInterval = Self.ratio(values[Parameter.secondInterval.rawValue])
        secondLevel = Self.factor(values[Parameter.secondLevel.rawValue])
    }

    /// Returns the gain factor of train `k` of grains: 0 is the voice, 1 and 2 are the added voices, 3 is the breath.
    @_noLocks
    func level(_ k: Int) -> Float {
        switch k {
        case 0: 1 - whisper
        case 1: firstLevel * (1 - whisper)
        case 2: secondLevel * (1 - whisper)
        default: whisper
        }
    }

    /// Returns the ratio of train `k`'s pitch to the first train's pitch.
    @_noLocks
    func interval(_ k: Int) -> Double { k == 1 ? firstInterval : k == 2 ? secondInterval : 1 }

    /// Returns the ratio of the pitch of train `k` to the input's pitch, clamped to two octaves down and up.
    @_noLocks
    func ratio(_ k: Int) -> Double { max(0.25, min(4, pitch * interval(k))) }

    @_noLocks
    private static func ratio(_ semitones: Float) -> Double {
        semitones == 0 ? 1 : earshot_exp(Double(semitones) * 0.057_762_265_046_662_11)
    }

    /// Returns the gain factor of a level in decibels; the lowest level, −60 dB, is silence.
    @_noLocks
    private static func factor(_ decibels: Float) -> Float { decibels <= -60 ? 0 : decibelsToGain(decibels) }
}
