// SPDX-License-Identifier: Apache-2.0

/// A histogram of energies above the absolute gate of −70 LUFS, in steps of 0.1 LU. Each step also has the sum of its energies,
/// so that means are exact and only gates are rounded.
struct LoudnessHistogram {
    private var counts = [Int](repeating: 0, count: stepCount)
    private var sums = [Double](repeating: 0, count: stepCount)
    private static let lowest = -70.0  // LUFS
    private static let step = 0.1  // LU
    private static let stepCount = 1_500  // up to +80 LUFS, ten thousand times full scale

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

    /// Returns the first step whose middle is not below the relative gate, which lies `units` LU below the mean of all energies.
    private func gate(below units: Double) -> Int {
        let mean = mean(from: 0)
        guard mean > 0 else { return 0 }
        let threshold = loudnessUnits(ofEnergy: mean) - units
        return threshold <= Self.lowest ? 0 : index(of: threshold + Self.step / 2)
    }

    /// Returns the mean of the energies above the relative gate, which lies `units` LU below the mean of all energies.
    func gatedMean(below units: Double) -> Double { mean(from: gate(below: units)) }

    /// Returns the distance in LU between two quantiles of the energies above the relative gate.
    func spread(from low: Double, to high: Double, gate units: Double) -> Double {
        let first = gate(below: units)
        let total = counts[first...].reduce(0, +)
        guard total > 0 else { return 0 }
        func quantile(_ q: Double) -> Double {
            let rank = Int(q * Double(total - 1) + 0.5)
            var cumulativeCount = 0
            for k in first..<Self.stepCount {
                cumulativeCount += counts[k]
                if cumulativeCount > rank { return Double(k) * Self.step }
            }
            return 0
        }
        return quantile(high) - quantile(low)
    }
}
