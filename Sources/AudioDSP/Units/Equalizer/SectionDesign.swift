// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The design of a second-order section in state-variable form: five numbers that can all ramp linearly while the section runs.
///
/// The transfer functions are those of R. Bristow-Johnson's Audio EQ Cookbook: his analogue prototypes under the same bilinear
/// transform with the same warping. The form is A. Simper's ("Solving the continuous SVF equations using trapezoidal integration
/// and equivalent currents", Cytomic 2013), with two trapezoidal integrators. A direct form subtracts nearly equal numbers, and
/// so loses digits at a low frequency and a high rate, such as 20 Hz at 192 kHz; this form does not. Its output does not burst
/// when the frequency jumps: while `g` and `k` are positive, the energy of its state never grows without input.
struct SectionDesign: BitwiseCopyable {
    /// tan(π f / rate): an integrator's step.
    var g: Double
    /// The damping, 1 / Q.
    var k: Double
    /// The gains of the input, of the band-pass and of the low-pass output.
    var direct: Double
    var band: Double
    var low: Double

    /// Creates the section that passes everything unchanged.
    @_noLocks
    init() {
        g = 0.1
        k = 1
        direct = 1
        band = 0
        low = 0
    }

    /// - Parameters:
    ///   - type: an index in ``EqualizerKernel/types``.
    ///   - frequency: in hertz; clamped to 49 % of the rate.
    ///   - gain: in dB, for peak and shelves.
    ///   - q: the quality as in the cookbook, above 0.
    @_noLocks
    init(type: Int, frequency: Double, gain: Double, q: Double, sampleRate: Double) {
        let highest = 0.49 * sampleRate
        let warped = earshot_tan(Double.pi * (frequency < highest ? frequency : highest) / sampleRate)
        let a = earshot_exp(gain * 0.057_564_627_324_851_145)  // 10^(gain / 40)
        g = warped
        k = 1 / q
        direct = 1
        band = 0
        low = 0
        switch type {
        case 0:  // peak
            k = 1 / (q * a)
            band = k * (a * a - 1)
        case 1:  // low shelf
            g = warped / earshot_sqrt(a)
            band = k * (a - 1)
            low = a * a - 1
        case 2:  // high shelf
            g = warped * earshot_sqrt(a)
            direct = a * a
            band = k * (1 - a) * a
            low = 1 - a * a
        case 3:  // low-pass
            direct = 0
            low = 1
        case 4:  // high-pass
            band = -k
            low = -1
        case 5:  // band-pass, 0 dB at its peak
            direct = 0
            band = k
        case 6:  // notch
            band = -k
        default:  // all-pass
            band = -2 * k
        }
    }

    /// True if the section's output equals its input.
    var isIdentity: Bool { @_noLocks get { direct == 1 && band == 0 && low == 0 } }

    /// Returns a section with the same poles that passes its input unchanged.
    @_noLocks
    func silenced() -> SectionDesign {
        var design = self
        design.direct = 1
        design.band = 0
        design.low = 0
        return design
    }

    /// Adds the numbers of `step` times `factor`.
    @_noLocks
    mutating func add(_ step: SectionDesign, times factor: Double = 1) {
        g += step.g * factor
        k += step.k * factor
        direct += step.direct * factor
        band += step.band * factor
        low += step.low * factor
    }

    /// Returns the increment per frame that reaches `target` in `count` frames.
    @_noLocks
    func step(to target: SectionDesign, over count: Int) -> SectionDesign {
        var step = target
        step.add(self, times: -1)
        let share = 1 / Double(count)
        step.g *= share
        step.k *= share
        step.direct *= share
        step.band *= share
        step.low *= share
        return step
    }
}
