// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Finds the period of a voice from its last 10 to 30 ms.
///
/// The normalized square difference (P. McLeod and G. Wyvill, "A smarter way to find pitch", ICMC 2005) is computed at every lag,
/// each over a range that grows with the lag, so that short periods are known early. The best of its maxima is chosen with a cost
/// for lower octaves and a bonus for continuity (after P. Boersma, "Accurate short-term analysis of the fundamental frequency",
/// IFA Proceedings 17, 1993); the period is then read at the longest multiple that still has a maximum, which divides the error.
struct VoicePitchTracker: ~Copyable {
    /// The signal's rate in hertz.
    let rate: Double
    /// The longest period, in samples.
    let longest: Int
    /// The period in samples, 0 if there is none.
    private(set) var period: Double = 0
    /// The similarity of successive periods, at most 1.
    private(set) var similarity: Float = 0
    private let shortest: Int  // samples
    private let leastWindow: Int  // samples
    private let difference: UnsafeMutablePointer<Float>  // the normalized square difference by lag
    private let energy: UnsafeMutablePointer<Float>  // of all samples before each one

    init(rate: Double) {
        self.rate = rate
        longest = Int((rate / 70).rounded(.up))
        shortest = Int(rate / 1_100)
        leastWindow = Int(0.006 * rate)
        difference = .allocate(capacity: longest + 3)
        difference.initialize(repeating: 0, count: longest + 3)
        energy = .allocate(capacity: 2 * longest + 3)
        energy.initialize(repeating: 0, count: 2 * longest + 3)
    }

    deinit {
        difference.deallocate()
        energy.deallocate()
    }

    /// The samples that an analysis reads.
    var span: Int { @_noLocks get { 2 &* longest &+ 2 } }

    /// Analyzes the ``span`` samples from `signal` on.
    @_noLocks
    mutating func analyze(_ signal: UnsafePointer<Float>) {
        let n = span
        energy[0] = 0
        for i in 0..<n { energy[i &+ 1] = energy[i] + signal[i] * signal[i] }
        // Below −100 dBFS there is nothing to follow.
        guard energy[n] > 1e-10 * Float(n) else {
            reset()
            return
        }
        difference[0] = 1
        for lag in 1...(longest &+ 1) {
            difference[lag] = compare(signal, lag, window: max(leastWindow, min(lag, longest)))
        }
        choose(signal)
    }

    /// Returns the normalized square difference at one lag, 1 for an exact repetition.
    @_noLocks
    private func compare(_ signal: UnsafePointer<Float>, _ lag: Int, window: Int) -> Float {
        let n = span
        let late = n &- window
        let cross = dotProduct(signal + late, signal + (late &- lag), window)
        let power = (energy[n] - energy[late]) + (energy[n &- lag] - energy[late &- lag])
        return 2 * cross / (power + 1e-7 * energy[n] + 1e-12)
    }

    @_noLocks
    private mutating func choose(_ signal: UnsafePointer<Float>) {
        var lag = 1
        while lag < longest, difference[lag] > 0 { lag &+= 1 }
        lag = max(lag, shortest)
        var best = 0
        var bestScore: Float = -1
        let scale = 0.05 / 0.693_147
        while lag <= longest {
            let v = difference[lag]
            if v > 0.3, v >= difference[lag &- 1], v > difference[lag &+ 1] {
                var score = v - Float(scale * earshot_log(Double(lag) / Double(shortest)))
                if period > 0 {
                    let ratio = Double(lag) / period
                    if ratio > 0.84, ratio < 1.19 { score += 0.08 }
                }
                if score > bestScore {
                    bestScore = score
                    best = lag
                }
            }
            lag &+= 1
        }
        // The costs only choose the octave. Near the chosen lag, the period is where the similarity is greatest, not at a ripple
        // beside that.
        var near = Int(Double(best) * 0.88)
        let far = min(longest, Int(Double(best) * 1.12))
        let centre = best
        near = max(near, shortest)
        while centre > 0, near <= far {
            if difference[near] > difference[best], difference[near] >= difference[near &- 1],
                difference[near] > difference[near &+ 1]
            {
                best = near
            }
            near &+= 1
        }
        guard best > 0, difference[best] > (period > 0 ? 0.55 : 0.72) else {
            reset()
            return
        }
        similarity = difference[best]
        period = refined(signal, best)
    }

    /// Returns the lag at the vertex of the parabola through a maximum and its two neighbours. All three are compared over the
    /// same window, so that the vertex is not biased.
    @_noLocks
    private func top(_ signal: UnsafePointer<Float>, _ lag: Int) -> Double {
        let window = max(leastWindow, min(lag, longest))
        let a = Double(compare(signal, lag &- 1, window: window))
        let b = Double(compare(signal, lag, window: window))
        let c = Double(compare(signal, lag &+ 1, window: window))
        let bend = a - 2 * b + c
        if bend >= 0 { return Double(lag) }
        return Double(lag) + max(-1, min(1, 0.5 * (a - c) / bend))
    }

    @_noLocks
    private func refined(_ signal: UnsafePointer<Float>, _ lag: Int) -> Double {
        var estimate = top(signal, lag)
        var k = 2
        while Double(k) * estimate < Double(longest) - 1 {
            let guess = Int(Double(k) * estimate + 0.5)
            var peakLag = guess
            if difference[guess &- 1] > difference[peakLag] { peakLag = guess &- 1 }
            if difference[guess &+ 1] > difference[peakLag] { peakLag = guess &+ 1 }
            if difference[peakLag] < difference[peakLag &- 1] || difference[peakLag] < difference[peakLag &+ 1]
                || difference[peakLag] < 0.8 * similarity
            {
                break
            }
            estimate = top(signal, peakLag) / Double(k)
            k &+= 1
        }
        return estimate
    }

    @_noLocks
    mutating func reset() {
        period = 0
        similarity = 0
    }
}
