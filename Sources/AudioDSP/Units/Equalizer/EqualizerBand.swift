// SPDX-License-Identifier: Apache-2.0

/// A band: its settings, and its section's present coefficients.
///
/// Numbers ramp linearly from segment to segment. A change of the type, or on and off, fades on a smooth curve for its own time,
/// from the sound before to the present numbers. Both change the section's ``SectionDesign``, so a single filter runs throughout.
struct EqualizerBand: BitwiseCopyable {
    /// The present design.
    private(set) var now = SectionDesign()
    /// The design without a fade, and the target of one.
    private var goal = SectionDesign()
    private var target = SectionDesign()
    private var step = SectionDesign()
    private var goalRemaining = 0
    /// The design at the beginning of a fade.
    private var origin = SectionDesign()
    private var fadeLength = 1
    private var fadeRemaining = 0

    private var type = -1
    private var isOn = false
    private var frequency: Float = 0
    private var gain: Float = 0
    private var q: Float = 0

    @_noLocks
    init() {}

    /// Returns true while the design changes.
    var isMoving: Bool { @_noLocks get { goalRemaining > 0 || fadeRemaining > 0 } }

    /// A band's parameters in the order of the unit's description.
    private enum Parameter: Int { case type, frequency, gain, q, isOn }

    /// Sets the band's parameters. Returns true if any changed.
    /// - Parameters:
    ///   - frameCount: the frames until numbers are reached; 0 for all at once.
    ///   - fade: the frames of a change of the type, or on and off.
    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int, fade: Int, sampleRate: Double) -> Bool {
        let (newType, newIsOn) = (Int(values[Parameter.type.rawValue] + 0.5), values[Parameter.isOn.rawValue] >= 0.5)
        let switches = newType != type || newIsOn != isOn
        if !switches && values[Parameter.frequency.rawValue] == frequency && values[Parameter.gain.rawValue] == gain
            && values[Parameter.q.rawValue] == q
        {
            return false
        }
        type = newType
        isOn = newIsOn
        frequency = values[Parameter.frequency.rawValue]
        gain = values[Parameter.gain.rawValue]
        q = values[Parameter.q.rawValue]
        target = SectionDesign(
            type: type, frequency: Double(frequency), gain: Double(gain), q: Double(q), sampleRate: sampleRate)
        if !isOn { target = target.silenced() }
        if !isMoving && now.isIdentity {
            // The poles of a silent band can jump.
            now.g = target.g
            now.k = target.k
            goal = now
        }
        if frameCount == 0 || (!isMoving && now.isIdentity && target.isIdentity) {
            finish()
        } else if switches {
            origin = now
            goal = target
            goalRemaining = 0
            fadeLength = fade
            fadeRemaining = fade
        } else {
            goalRemaining = frameCount
            step = goal.step(to: target, over: frameCount)
        }
        return true
    }

    /// Advances by a frame.
    @_noLocks
    mutating func advance() {
        if goalRemaining > 0 {
            goalRemaining &-= 1
            if goalRemaining == 0 { goal = target } else { goal.add(step) }
        }
        now = goal
        if fadeRemaining > 0 {
            fadeRemaining &-= 1
            let left = Double(fadeRemaining) / Double(fadeLength)
            let before = left * left * (3 - 2 * left)
            var way = origin
            way.add(goal, times: -1)
            now.add(way, times: before)
        }
    }

    /// Jumps to the settings.
    @_noLocks
    mutating func finish() {
        goal = target
        now = target
        goalRemaining = 0
        fadeRemaining = 0
    }
}
