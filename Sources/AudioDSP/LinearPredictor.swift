import AudioBase

/// Continues a signal beyond its end by linear prediction, for the concealment of lost audio.
///
/// The coefficients are those of Burg's method (J. P. Burg, "Maximum entropy spectral analysis", 1975), which are stable by
/// construction; the extrapolated signal feeds itself (I. Kauppinen and K. Roth, "Audio signal extrapolation", DAFx 2002).
/// One channel; all but `init` is render-safe; one thread at a time.
public struct LinearPredictor: ~Copyable {
    /// Coefficients, 1 or more.
    public let order: Int
    /// Frames of the past one analysis looks at.
    public let historyCount: Int
    private let coefficients: UnsafeMutablePointer<Float>
    private let past: UnsafeMutablePointer<Float>  // the last `order` frames, the newest first, twice over
    private let forward: UnsafeMutablePointer<Float>
    private let backward: UnsafeMutablePointer<Float>
    private var newest: Int

    /// - Parameters:
    ///   - order: more follows a richer spectrum at a cost of `order` × `historyCount` each analysis.
    ///   - historyCount: at least twice the order.
    public init(order: Int = 32, historyCount: Int = 768) {
        precondition(order >= 1 && historyCount >= 2 * order)
        self.order = order
        self.historyCount = historyCount
        coefficients = .allocate(capacity: 3 * order + 2 * historyCount)
        coefficients.initialize(repeating: 0, count: 3 * order + 2 * historyCount)
        past = coefficients + order
        forward = past + 2 * order
        backward = forward + historyCount
        newest = 0
    }

    deinit { coefficients.deallocate() }

    /// Learns the signal that ends at `history[historyCount - 1]`; the next ``next()`` is the frame behind it.
    @_noLocks
    public mutating func analyze(_ history: UnsafePointer<Float>) {
        let n = historyCount
        copySamples(forward, history, n)
        copySamples(backward, history, n)
        clearSamples(coefficients, order)
        for m in 0..<order {
            let k = reflection(from: m &+ 1)
            // Levinson's step: a[i] -= k a[m-1-i], both ends at once.
            coefficients[m] = k
            var i = 0
            while i < m &- 1 &- i {
                let a = coefficients[i]
                let b = coefficients[m &- 1 &- i]
                coefficients[i] = a - k * b
                coefficients[m &- 1 &- i] = b - k * a
                i &+= 1
            }
            if m > 0, i == m &- 1 &- i { coefficients[i] -= k * coefficients[i] }
            lattice(k, from: m &+ 1)
        }
        newest = 0
        for i in 0..<order {
            past[i] = history[n &- 1 &- i]
            past[i &+ order] = past[i]
        }
    }

    /// The next frame of the continued signal.
    @_noLocks
    public mutating func next() -> Float {
        var sum: Float = 0
        for i in 0..<order { sum += coefficients[i] * past[newest &+ i] }
        sum = max(-2, min(2, sum))
        newest = newest == 0 ? order &- 1 : newest &- 1
        past[newest] = sum
        past[newest &+ order] = sum
        return sum
    }

    /// Burg's reflection coefficient: 2 Σ f b / Σ (f² + b²), kept inside the unit circle against rounding.
    @_noLocks @inline(__always)
    private func reflection(from start: Int) -> Float {
        var cross = SIMD4<Float>(repeating: 0)
        var power = SIMD4<Float>(repeating: 0)
        var t = start
        while t &+ 4 <= historyCount {
            let f = load4(forward + t)
            let b = load4(backward + (t &- 1))
            cross += f * b
            power += f * f + b * b
            t &+= 4
        }
        let numerator = cross[0] + cross[1] + cross[2] + cross[3]
        let denominator = power[0] + power[1] + power[2] + power[3]
        return denominator > 1e-9 ? max(-0.999_999, min(0.999_999, 2 * numerator / denominator)) : 0
    }

    /// Both prediction errors, one order on. The backward error is read one frame back, so it is updated from the end.
    @_noLocks @inline(__always)
    private func lattice(_ k: Float, from start: Int) {
        var t = historyCount &- 1
        while t >= start {
            let f = forward[t]
            let b = backward[t &- 1]
            forward[t] = f - k * b
            backward[t] = b - k * f
            t &-= 1
        }
    }
}
