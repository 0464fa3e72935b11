// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A voice changer's parameters, worked out.
struct VoiceSetting: BitwiseCopyable {
    /// The formants' ratio.
    private(set) var formant = 1.0
    /// Frames between the grains of a robot, 0 for none.
    private(set) var robotSpacing = 0.0
    /// 0...1.
    private(set) var whisper: Float = 0
    private var pitch = 1.0
    private var first = 1.0
    private var second = 1.0
    private var firstLevel: Float = 0
    private var secondLevel: Float = 0

    /// Returns true if all this leaves the sound as it is.
    var isNeutral: Bool {
        @_noLocks get {
            pitch == 1 && formant == 1 && robotSpacing == 0 && whisper == 0 && firstLevel == 0 && secondLevel == 0
        }
    }

    @_noLocks
    mutating func read(_ values: UnsafePointer<Float>, sampleRate: Double) {
        pitch = Self.ratio(values[0])
        formant = Self.ratio(values[1])
        robotSpacing = values[3] >= 0.5 ? sampleRate / Double(values[4]) : 0
        whisper = values[5] / 100
        first = Self.ratio(values[6])
        firstLevel = Self.factor(values[7])
        second = Self.ratio(values[8])
        secondLevel = Self.factor(values[9])
    }

    /// The amplitude of a train of grains.
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

    /// Returns the ratio of a train's pitch to the input's; two octaves at most.
    @_noLocks
    func ratio(_ k: Int) -> Double { max(0.25, min(4, pitch * interval(k))) }

    @_noLocks
    private static func ratio(_ semitones: Float) -> Double {
        semitones == 0 ? 1 : earshot_exp(Double(semitones) * 0.057_762_265_046_662_11)
    }

    /// The lowest value is silence.
    @_noLocks
    private static func factor(_ decibels: Float) -> Float { decibels <= -60 ? 0 : decibelsToGain(decibels) }
}
