// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Continues a signal beyond its end by linear prediction, for the concealment of lost audio.
///
/// The coefficients are those of Burg's method (J. P. Burg, "Maximum entropy spectral analysis", 1975), which are stable by
/// construction; the power of the prediction errors goes on from order to order as N. Andersen has it ("Comments on the
/// performance of maximum entropy algorithms", Proc. IEEE 66(11), 1978), and is summed anew where little is left of it. The
/// extrapolated signal feeds itself (I. Kauppinen and K. Roth, "Audio signal extrapolation", DAFx 2002) and never exceeds
/// the largest magnitude of what was learnt. Noise 80 dB below the signal is learnt with it: without any, the coefficients of
/// pure tones become so large that floats cannot hold them. The same bits on every processor.
/// One channel; all but `init` is render-safe; one thread at a time.
package struct LinearPredictor: ~Copyable {
    /// Coefficients, 1 or more.
    package let order: Int
    /// Frames of the past one analysis looks at.
    package let historyCount: Int
    /// The error of the last analysis, as a root mean square.
    package private(set) var residual: Float = 0

    private let vectorWidth = earshot_vector_width()
    private let taps: Int  // `order`, rounded up to eights
    // Prediction errors, each beside the backward one that it meets.
    private let forward: UnsafeMutablePointer<Float>
    private let backward: UnsafeMutablePointer<Float>
    // The filter whose output the error is, its last coefficient first and its 1 at `taps`; the same turned round, a frame late.
    private let filter: UnsafeMutablePointer<Float>
    private let reversed: UnsafeMutablePointer<Float>
    private let noise: UnsafeMutablePointer<Float>  // white, its mean square 1
    private let past: UnsafeMutablePointer<Float>  // the last `taps` frames, the oldest at `oldest`, twice over
    private var oldest = 0
    private var limit: Float = 0

    /// - Parameters:
    ///   - order: more follows a richer spectrum at a cost of `order` × `historyCount` each analysis.
    ///   - historyCount: at least twice the order.
    package init(order: Int = 256, historyCount: Int = 704) {
        precondition(order >= 1 && historyCount >= 2 * order)
        self.order = order
        self.historyCount = historyCount
        taps = (order + 7) & ~7
        // Each of the first four is read by one vector more than it has.
        let errors = Self.vectors(historyCount) + 16
        let coefficients = Self.vectors(taps + 1) + 16
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

    /// Learns the signal that ends at `history[historyCount - 1]`; the next ``next(innovation:)`` is the frame behind it.
    @_noLocks
    package mutating func analyze(_ history: UnsafePointer<Float>) {
        learn(history)
        restart(history)
    }

    /// Goes on from another signal, that ends at `history[historyCount - 1]`, by the coefficients that were learnt.
    @_noLocks
    package mutating func restart(_ history: UnsafePointer<Float>) {
        oldest = 0
        limit = 0
        var isSound = true  // not where a frame is NaN
        for i in 0..<historyCount {
            let magnitude = abs(history[i])
            isSound = isSound && magnitude < Self.loudest
            limit = max(limit, magnitude)
        }
        guard isSound else {
            limit = 0
            return
        }
        copySamples(past, history + (historyCount &- taps), taps)
        copySamples(past + taps, past, taps)
    }

    /// Goes on from a signal by the coefficients that another predictor learnt. - Precondition: both have the same order.
    @_noLocks
    package mutating func restart(_ history: UnsafePointer<Float>, as other: borrowing LinearPredictor) {
        copySamples(filter, other.filter, taps)
        residual = other.residual
        restart(history)
    }

    /// The next frame of the continued signal.
    /// - Parameter innovation: what is new in it. White noise whose root mean square is ``residual`` makes noise of the
    ///   spectrum that was learnt.
    @_noLocks
    package mutating func next(innovation: Float = 0) -> Float {
        let predicted = innovation - earshot_dot_by(vectorWidth, filter, past + oldest, taps)
        // The filter's input is limited later than its output: clipped peaks would ring.
        let frame = max(-4 * limit, min(4 * limit, predicted))
        past[oldest] = frame
        past[oldest &+ taps] = frame
        oldest = oldest == taps &- 1 ? 0 : oldest &+ 1
        return max(-limit, min(limit, frame))
    }

    /// Burg's method. What is not finite, or beyond all sense, is learnt as silence.
    @_noLocks
    private mutating func learn(_ history: UnsafePointer<Float>) {
        var count = historyCount &- 1  // pairs of errors
        let room = Self.vectors(historyCount) &+ 16
        let signal = earshot_dot_by(vectorWidth, history, history, historyCount & ~7)
        let level = Self.noiseLevel * earshot_sqrtf(signal / Float(historyCount))
        for i in 0..<historyCount { backward[i] = history[i] + level * noise[i] }
        copySamples(forward, backward + 1, count)
        clearSamples(forward + count, room &- count)
        clearSamples(backward + count, room &- count)
        let coefficients = Self.vectors(taps &+ 1)
        clearSamples(filter, coefficients)
        clearSamples(reversed, coefficients)
        filter[taps] = 1
        reversed[taps &- 1] = 1
        residual = 0
        var power = summedPower(count)
        guard power < Double(Self.loudest) else { return }
        var summed = power
        var product = Double(earshot_dot_by(vectorWidth, forward, backward, Self.vectors(count)))
        var m = 0
        while m < order, power > Self.silence {
            let k = Float(max(-0.999_999, min(0.999_999, 2 * product / power)))
            // Levinson's step is that of the lattice, on coefficients. All below `start` are 0, and stay so.
            let start = max(0, taps &- m &- 2) & ~15
            _ = earshot_lattice_by(vectorWidth, reversed + start, filter + start, coefficients &- start, k)
            let first = forward[0] - k * backward[0]
            product = Double(earshot_lattice_by(vectorWidth, forward, backward, Self.vectors(count), k))
            // The first forward error has none to meet any more, nor has the last backward one.
            count &-= 1
            let last = backward[count]
            backward[count] = 0
            power = (1 - Double(k) * Double(k)) * power - Double(first * first) - Double(last * last)
            if !(power > summed * Self.trusted) {
                power = summedPower(count)
                summed = power
            }
            m &+= 1
        }
        // Rounding may have put a pole outside of the unit circle.
        var shrink: Float = 1
        for i in 1...order {
            shrink *= Self.shrinkage
            filter[taps &- i] *= shrink
        }
        residual = earshot_sqrtf(Float(power) / Float(2 &* count))
    }

    /// The power of all errors that meet, both ways: Burg's denominator.
    @_noLocks
    private func summedPower(_ count: Int) -> Double {
        let whole = Self.vectors(count)
        return Double(earshot_dot_by(vectorWidth, forward, forward, whole))
            + Double(earshot_dot_by(vectorWidth, backward, backward, whole))
    }

    /// Shrinks the filter's poles: the continuation falls by 0.6 dB in 10 ms at 48 kHz.
    private static var shrinkage: Float { @_noLocks get { 0.999_85 } }
    /// The level of the noise that is added to a signal before analysis, relative to it.
    private static var noiseLevel: Float { @_noLocks get { 1e-4 } }
    /// Summed power of errors below which there is nothing to learn: that of a past of some -124 dBFS.
    private static var silence: Double { @_noLocks get { 1e-9 } }
    /// Summed power, or a magnitude, of what is no sound.
    private static var loudest: Float { @_noLocks get { 1e12 } }
    /// Share of the power summed last down to which the recursion is exact enough.
    private static var trusted: Double { @_noLocks get { 0.01 } }

    /// `count`, rounded up to whole vectors of the lattice.
    @_noLocks
    private static func vectors(_ count: Int) -> Int { (count &+ 15) & ~15 }
}
