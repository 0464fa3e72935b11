// SPDX-License-Identifier: Apache-2.0

/// Energies above the absolute gate of −70 LUFS, counted in steps of 0.1 LU with the sum of each step, so that means are exact
/// and only gates are rounded.
struct LoudnessHistogram {
    private var counts = [Int](repeating: 0, count: stepCount)
    private var sums = [Double](repeating: 0, count: stepCount)
    private static let lowest = -70.0
    private static let step = 0.1
    private static let stepCount = 1_500  // up to +80 LUFS, a thousand times full scale

    mutating func add(_ energy: Double) {
        let loudness = loudnessUnits(ofEnergy: energy)
        guard loudness >= Self.lowest else { return }
        let k = index(of: loudness)
        counts[k] += 1
        sums[k] += energy
    }

    private func index(of loudness: Double) -> Int {
        max(0, min(Self.stepCount - 1, Int((loudness - Self.lowest) / Self.step)))
    }

    /// Returns the mean of all energies from step `first` on.
    private func mean(from first: Int) -> Double {
        let count = counts[first...].reduce(0, +)
        return count == 0 ? 0 : sums[first...].reduce(0, +) / Double(count)
    }

    /// Returns the first step whose middle is not below the relative gate.
    private func gate(below units: Double) -> Int {
        let mean = mean(from: 0)
        guard mean > 0 else { return 0 }
        let threshold = loudnessUnits(ofEnergy: mean) - units
        return threshold <= Self.lowest ? 0 : index(of: threshold + Self.step / 2)
    }

    /// Returns the mean energy above the relative gate, which lies these units below the mean of all.
    func gatedMean(below units: Double) -> Double { mean(from: gate(below: units)) }

    /// Returns the units between two quantiles of the values above the gate.
    func spread(from low: Double, to high: Double, gate units: Double) -> Double {
        let first = gate(below: units)
        let total = counts[first...].reduce(0, +)
        guard total > 0 else { return 0 }
        func quantile(_ q: Double) -> Double {
            let rank = Int(q * Double(total - 1) + 0.5)
            var seen = 0
            for k in first..<Self.stepCount {
                seen += counts[k]
                if seen > rank { return Double(k) * Self.step }
            }
            return 0
        }
        return quantile(high) - quantile(low)
    }
}
