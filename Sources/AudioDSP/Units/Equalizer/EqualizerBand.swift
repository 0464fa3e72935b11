// SPDX-License-Identifier: Apache-2.0

/// An equalizer's band: its settings, and the present design of its filter section.
///
/// Frequency, gain and Q ramp linearly from segment to segment. A change of the type, or switching on or off, fades over a fixed
/// time on a smooth curve, from the design before to the present one. Ramps and fades both change the numbers of the section's
/// ``SectionDesign``, so that a single filter runs throughout.
struct EqualizerBand: BitwiseCopyable {
    /// The design for the present frame.
    private(set) var now = SectionDesign()
    /// The design for the present frame without the fade, and the design at which its ramp ends.
    private var rampedDesign = SectionDesign()
    private var target = SectionDesign()
    private var step = SectionDesign()  // the increment of the ramp in each frame
    private var rampRemaining = 0
    /// The design from which the present fade started.
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

    /// True while the design changes.
    var isMoving: Bool { @_noLocks get { rampRemaining > 0 || fadeRemaining > 0 } }

    /// A band's parameters in the order of the unit's description.
    private enum Parameter: Int { case type, frequency, gain, q, isOn }

    /// Sets the band's parameters. Returns true if any changed.
    /// - Parameters:
    ///   - frameCount: the frames until the new frequency, gain and Q are reached; 0 to set everything at once.
    ///   - fade: the frames of a fade to another type, or to on or off.
    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int, fade: Int, sampleRate: Double) -> Bool {
        let (newType, newIsOn) = (Int(values[Parameter.type.rawValue] + 0.5), values[Parameter.isOn.rawValue] >= 0.5)
        let isSwitched = newType != type || newIsOn != isOn
        if !isSwitched && values[Parameter.frequency.rawValue] == frequency && values[Parameter.gain.rawValue] == gain
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
            // A band without an effect may jump to other poles.
            now.g = target.g
            now.k = target.k
            rampedDesign = now
        }
        if frameCount == 0 || (!isMoving && now.isIdentity && target.isIdentity) {
            finish()
        } else if isSwitched {
            origin = now
            rampedDesign = target
            rampRemaining = 0
            fadeLength = fade
            fadeRemaining = fade
        } else {
            rampRemaining = frameCount
            step = rampedDesign.step(to: target, over: frameCount)
        }
        return true
    }

    /// Advances by a frame.
    @_noLocks
    mutating func advance() {
        if rampRemaining > 0 {
            rampRemaining &-= 1
            if rampRemaining == 0 { rampedDesign = target } else { rampedDesign.add(step) }
        }
        now = rampedDesign
        if fadeRemaining > 0 {
            fadeRemaining &-= 1
            let remainingShare = Double(fadeRemaining) / Double(fadeLength)
            let originWeight = remainingShare * remainingShare * (3 - 2 * remainingShare)
            var difference = origin
            difference.add(rampedDesign, times: -1)
            now.add(difference, times: originWeight)
        }
    }

    /// Ends ramp and fade, and jumps to the design of the settings.
    @_noLocks
    mutating func finish() {
        rampedDesign = target
        now = target
        rampRemaining = 0
        fadeRemaining = 0
    }
}
