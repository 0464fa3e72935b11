// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds the clearest onset of a sound.
enum Onset {
    /// Returns the time of the clearest onset within `ranges`, in seconds after the first sample. There the next 60 ms exceed the
    /// previous 100 ms the most and are not far below the loudest. nil in silence, or if the sound or the ranges are too short.
    static func mostSalient(in signal: TimedSignal, ranges: [ClosedRange<Double>]) -> Double? {
        let step = max(1, Int(signal.sampleRate * 0.005))
        let energies = stride(from: 0, to: signal.samples.count, by: step).map { start in
            signal.samples[start..<min(start + step, signal.samples.count)].reduce(0) { $0 + Double($1) * Double($1) }
        }
        let (before, after) = (20, 12)  // steps: 100 and 60 ms
        guard energies.count > before + after else { return nil }
        var sums = [0.0]
        for energy in energies { sums.append(sums[sums.count - 1] + energy) }
        let candidates = (before..<energies.count - after).filter { at in
            ranges.contains { $0.contains(Double(at * step) / signal.sampleRate) }
        }
        func loudness(_ at: Int) -> Double { (sums[at + after] - sums[at]) / Double(after) }
        guard let loudest = candidates.map(loudness).max(), loudest > 0 else { return nil }
        let best = candidates.max { score($0) < score($1) }
        func score(_ at: Int) -> Double {
            let quiet = (sums[at] - sums[at - before]) / Double(before)
            return loudness(at) < loudest * 0.15 ? 0 : loudness(at) / (quiet + loudest * 1e-4)
        }
        guard let best else { return nil }
        // The exact sample is the first near the onset that reaches a fifth of the peak.
        let start = max(0, (best - 1) * step)
        let part = signal.samples[start..<min(signal.samples.count, (best + after) * step)]
        let threshold = (part.map(\.magnitude).max() ?? 0) * 0.2
        return Double(part.firstIndex { $0.magnitude >= threshold } ?? best * step) / signal.sampleRate
    }
}
