// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Extrapolates a signal by linear prediction, for the concealment of lost audio.
///
/// The coefficients are those of Burg's method (J. P. Burg, "Maximum entropy spectral analysis", 1975), which are stable by
/// construction. The power of the prediction errors is updated from order to order by N. Andersen's recursion ("Comments on the
/// performance of maximum entropy algorithms", Proc. IEEE 66(11), 1978), and summed again when little of it is left. The
/// extrapolated signal is its own input (I. Kauppinen and K. Roth, "Audio signal extrapolation", DAFx 2002). A steady tone may
/// grow, and tops that were cut flat would click: the output exceeds the largest magnitude of the analyzed signal by at most a
/// quarter, and never reaches beyond full scale because of that. Noise 80 dB below the signal is added before the analysis:
/// without noise, the coefficients of pure tones become too large for floats. The result is the same on every processor. One channel; everything
/// except `init` is safe on the render thread; for one thread at a time.
package struct LinearPredictor: ~Copyable {
    /// The number of coefficients, at least 1.
    package let order: Int
    /// The frames that an analysis reads.
    package let historyCount: Int
    /// The RMS of the prediction errors in the last analysis.
    package private(set) var residual: Float = 0

    private let floatsPerVector = earshot_vector_width()
    private let taps: Int  // `order`, rounded up to eights
    // The forward and the backward prediction errors; those with the same index belong together.
    private let forward: UnsafeMutablePointer<Float>
    private let backward: UnsafeMutablePointer<Float>
    // The prediction-error filter, with the last coefficient first and its leading 1 at index `taps`; `reversed` has the same
    // coefficients in reverse order, delayed by a frame.
    private let filter: UnsafeMutablePointer<Float>
    private let reversed: UnsafeMutablePointer<Float>
    private let noise: UnsafeMutablePointer<Float>  // white noise with a mean square of 1
    private let past: UnsafeMutablePointer<Float>  // the last `taps` frames as a ring, stored twice in a row
    private var oldest = 0  // the index of the oldest frame in `past`
    private var peak: Float = 0  // the largest magnitude of the analyzed signal

    /// - Parameters:
    ///   - order: a higher order follows a richer spectrum at a cost of `order` × `historyCount` for each analysis.
    ///   - historyCount: at least twice the order.
    package init(order: Int = 256, historyCount: Int = 704) {
        precondition(order >= 1 && historyCount >= 2 * order)
        self.order = order
        self.historyCount = historyCount
        taps = (order + 7) & ~7
        // Each of the first four arrays is read up to one vector beyond its end.
        let errors = Self.paddedCount(historyCount) + 16
        let coefficients = Self.paddedCount(taps + 1) + 16
        let count = 2 * (errors + coefficients + taps) + historyCount
        forward = .allocate(capacity: count)
        forward.initialize(repeating: 0, count: count)
        backward = forward + errors
        filter = backward + errors
        reversed = filter + coefficients
        past = reversed + coefficients
        noise = past + 2 * taps
        var random: UInt32 = 1
        for i in 0..<historyCount {
            random = random &* 1_664_525 &+ 1_013_904_223
            noise[i] = Float(Int32(bitPattern: random)) / 2_147_483_648 * 1.732_050_8
        }
    }

    deinit { forward.deallocate() }

    /// Analyzes the signal that ends at `history[historyCount - 1]`; the next ``next(innovation:)`` is the frame after it.
    @_noLocks
    package mutating func analyze(_ history: UnsafePointer<Float>) {
        learn(history)
        restart(history)
    }

    /// Continues another signal, which ends at `history[historyCount - 1]`, with the same coefficients. An infinite, NaN or
    /// extreme signal is continued by silence.
    @_noLocks
    package mutating func restart(_ history: UnsafePointer<Float>) {
        oldest = 0
        peak = 0
        var isValid = true  // false also if a frame is NaN
        for i in 0..<historyCount {
            let magnitude = abs(history[i])
            isValid = isValid && magnitude < Self.loudest
            peak = max(peak, magnitude)
        }
        guard isValid else {
            peak = 0
            return
        }
        copySamples(past, history + (historyCount &- taps), taps)
        copySamples(past + taps, past, taps)
    }

    /// Continues a signal with the coefficients of another predictor.
    /// - Precondition: both have the same order.
    @_noLocks
    package mutating func restart(_ history: UnsafePointer<Float>, as other: borrowing LinearPredictor) {
        copySamples(filter, other.filter, taps)
        residual = other.residual
        restart(history)
    }

    /// Returns the next frame of the continued signal.
    /// - Parameter innovation: the unpredictable part. White noise with the RMS ``residual`` gives noise of the analyzed
    ///   spectrum.
    @_noLocks
    package mutating func next(innovation: Float = 0) -> Float {
        let predicted = innovation - earshot_dot_by(floatsPerVector, filter, past + oldest, taps)
        // A frame that is fed back to the filter is limited less than the output, because clipped peaks would ring.
        let frame = max(-4 * peak, min(4 * peak, predicted))
        past[oldest] = frame
        past[oldest &+ taps] = frame
        oldest = oldest == taps &- 1 ? 0 : oldest &+ 1
        let magnitude = abs(frame)
        guard magnitude > peak else { return frame }
        // The output approaches its limit with a continuous slope.
        let excess = magnitude / peak - 1
        let room = min(Self.excessLimit, max(0, 1 / peak - 1))
        return (frame < 0 ? -peak : peak) * (1 + excess / (1 + excess / room))
    }

    /// Computes the coefficients by Burg's method. An infinite, NaN or extreme signal is treated as silence.
    @_noLocks
    private mutating func learn(_ history: UnsafePointer<Float>) {
        var count = historyCount &- 1  // the number of pairs of errors
        let room = Self.paddedCount(historyCount) &+ 16
        let signalEnergy = earshot_dot_by(floatsPerVector, history, history, historyCount & ~7)
        let noiseGain = Self.noiseLevel * earshot_sqrtf(signalEnergy / Float(historyCount))
        for i in 0..<historyCount { backward[i] = history[i] + noiseGain * noise[i] }
        copySamples(forward, backward + 1, count)
        clearSamples(forward + count, room &- count)
        clearSamples(backward + count, room &- count)
        let coefficients = Self.paddedCount(taps &+ 1)
        clearSamples(filter, coefficients)
        clearSamples(reversed, coefficients)
        filter[taps] = 1
        reversed[taps &- 1] = 1
        residual = 0
        var power = summedPower(count)
        guard power < Double(Self.loudest) else { return }
        var lastSummedPower = power
        var product = Double(earshot_dot_by(floatsPerVector, forward, backward, Self.paddedCount(count)))
        var m = 0
        while m < order, power > Self.silence {
            let k = Float(max(-0.999_999, min(0.999_999, 2 * product / power)))
            // Levinson's recursion is a lattice step on the coefficients. Coefficients below `start` are 0, and stay 0.
            let start = max(0, taps &- m &- 2) & ~15
            _ = earshot_lattice_by(floatsPerVector, reversed + start, filter + start, coefficients &- start, k)
            let first = forward[0] - k * backward[0]
            product = Double(earshot_lattice_by(floatsPerVector, forward, backward, Self.paddedCount(count), k))
            // The first forward error and the last backward error have lost their counterparts.
            count &-= 1
            let last = backward[count]
            backward[count] = 0
            power = (1 - Double(k) * Double(k)) * power - Double(first * first) - Double(last * last)
            if !(power > lastSummedPower * Self.trusted) {
                power = summedPower(count)
                lastSummedPower = power
            }
            m &+= 1
        }
        // Rounding may have moved a pole outside the unit circle, so all poles are moved inwards.
        var shrink: Float = 1
        for i in 1...order {
            shrink *= Self.shrinkage
            filter[taps &- i] *= shrink
        }
        residual = earshot_sqrtf(Float(power) / Float(2 &* count))
    }

    /// Returns the energy of the first `count` forward and backward errors together: Burg's denominator.
    @_noLocks
    private func summedPower(_ count: Int) -> Double {
        let paddedCount = Self.paddedCount(count)
        return Double(earshot_dot_by(floatsPerVector, forward, forward, paddedCount))
            + Double(earshot_dot_by(floatsPerVector, backward, backward, paddedCount))
    }

    /// The factor by which the filter's poles are moved inwards: the continuation decays by 0.6 dB in 10 ms at 48 kHz.
    private static var shrinkage: Float { @_noLocks get { 0.999_85 } }
    /// The level of the noise added before analysis, relative to the signal.
    private static var noiseLevel: Float { @_noLocks get { 1e-4 } }
    /// The summed error power of silence: that of a signal at -124 dBFS.
    private static var silence: Double { @_noLocks get { 1e-9 } }
    /// The maximum share by which the output exceeds the analyzed signal.
    private static var excessLimit: Float { @_noLocks get { 0.25 } }
    /// The upper limit of the power and the magnitude of a valid signal.
    private static var loudest: Float { @_noLocks get { 1e12 } }
    /// The share of the last summed power down to which the recursion is accurate enough.
    private static var trusted: Double { @_noLocks get { 0.01 } }

    /// Rounds `count` up to whole vectors of the lattice.
    @_noLocks
    private static func paddedCount(_ count: Int) -> Int { (count &+ 15) & ~15 }
}
