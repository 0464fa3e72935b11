// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

extension TruePeakFilter {
    /// Writes the taps of all filters, each tap four times for vectors of four samples. Returns the maximum gain of the two
    /// interpolators together.
    static func makeTaps(_ taps: UnsafeMutablePointer<Float>) -> Float {
        // The first interpolator's taps are symmetric, so only one half is stored.
        let first = (0..<112).map { windowedSinc(55.5 - Double($0), half: 56, beta: 3) }
        let firstSum = first.reduce(0, +)
        for k in 0..<56 { (taps + 4 * k).initialize(repeating: Float(first[k] / firstSum), count: 4) }
        let firstGain = first.reduce(0) { $0 + abs($1) } / firstSum
        var secondGain = 1.0
        for phase in 1...3 {
            let phaseTaps = (0..<8).map { windowedSinc(Double($0 - 3) - Double(phase) / 4, half: 4, beta: 5) }
            let sum = phaseTaps.reduce(0, +)
            for k in 0..<8 {
                (taps + 4 * (56 + 3 * k + phase - 1)).initialize(repeating: Float(phaseTaps[k] / sum), count: 4)
            }
            secondGain = max(secondGain, phaseTaps.reduce(0) { $0 + abs($1) } / sum)
        }
        let band = (0..<56).map { Double(1 - 2 * ($0 % 2)) * window(Double($0), half: 56, beta: 5) }
        let bandSum = band.dropFirst().reduce(abs(band[0])) { $0 + 2 * abs($1) }
        for k in 0..<56 {
            (taps + 4 * (80 + k)).initialize(repeating: Float(band[k] / bandSum) * brinkWeight, count: 4)
        }
        return Float(firstGain * secondGain * 1.001)
    }

    private static func windowedSinc(_ t: Double, half: Double, beta: Double) -> Double {
        (abs(t) < 1e-12 ? 1 : earshot_sin(.pi * t) / (.pi * t)) * window(t, half: half, beta: beta)
    }

    private static func window(_ t: Double, half: Double, beta: Double) -> Double {
        let x = t / half
        guard abs(x) < 1 else { return 0 }
        return ResamplerFilter.besselI0(beta * (1 - x * x).squareRoot()) / ResamplerFilter.besselI0(beta)
    }

    /// The weight of the band around half the rate. It is enough for the peaks of white noise and of random signs, which were
    /// measured by a transform of the whole sound.
    static var brinkWeight: Float { 1.5 }
}
