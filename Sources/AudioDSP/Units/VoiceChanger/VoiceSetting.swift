// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A voice changer's parameters, converted for processing.
struct VoiceSetting: BitwiseCopyable {
    /// The effect's share, 0 to 1.
    private(set) var mix: Float = 1
    /// The formants' ratio.
    private(set) var formant = 1.0
    /// The frames between the grains of a robot, 0 for none.
    private(set) var robotSpacing = 0.0
    /// The whisper, 0...1.
    private(set) var whisper: Float = 0
    private var pitch = 1.0
    private var first = 1.0
    private var second = 1.0
    private var firstLevel: Float = 0
    private var secondLevel: Float = 0

    /// Returns true if the sound is unchanged.
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
        first = Self.ratio(values[Parameter.firstInterval.rawValue])
        firstLevel = Self.factor(values[Parameter.firstLevel.rawValue])
        second = Self.ratio(values[Parameter.secondInterval.rawValue])
        secondLevel = Self.factor(values[Parameter.secondLevel.rawValue])
    }

    /// Returns the amplitude of a train of grains.
    @_noLocks
    func level(_ k: Int) -> Float {
        switch k {
        case 0: 1 - whisper
        case 1: firstLevel * (1 - whisper)
        case 2: secondLevel * (1 - whisper)
        default: whisper
        }
    }

    /// Returns the ratio of a train's pitch to the first one's.
    @_noLocks
    func interval(_ k: Int) -> Double { k == 1 ? first : k == 2 ? second : 1 }

    /// Returns the ratio of a train's pitch to the input's; at most two octaves.
    @_noLocks
    func ratio(_ k: Int) -> Double { max(0.25, min(4, pitch * interval(k))) }

    @_noLocks
    private static func ratio(_ semitones: Float) -> Double {
        semitones == 0 ? 1 : earshot_exp(Double(semitones) * 0.057_762_265_046_662_11)
    }

    /// Returns the factor of a level; the lowest value is silence.
    @_noLocks
    private static func factor(_ decibels: Float) -> Float { decibels <= -60 ? 0 : decibelsToGain(decibels) }
}
