// SPDX-License-Identifier: Apache-2.0

import Glibc

extension RoomResponse {
    /// Returns the height of a tail's loudest mode above its neighbours, in dB, and its frequency, in hertz.
    ///
    /// For each response it computes power spectra of the tail from 0.1 s until 60 % of the decay, in half-overlapping Hann
    /// windows of 0.7 s (1.5 Hz per bin, which separates the modes of a network whose lines are shorter than that in total). In
    /// each window each bin is divided by the mean of a third of an octave on either side, so that late windows count as much as
    /// early ones and a mode that decays more slowly than the others grows. The quotients are averaged. Modes are the maxima of
    /// the average between 100 and 8,000 Hz. Each is compared with the median of the maxima within a third of an octave on either
    /// side. So neither gaps between modes nor another loud mode affect the result. (A plain spectrum of one window is not
    /// sufficient: the largest of ten thousand bins of noise is 11 dB above their median.)
    public static func loudestMode(
        _ responses: [[Double]], decay: Double, rate: Double
    ) -> (level: Double, frequency: Double) {
        var length = 1
        while Double(length) < 0.5 * rate { length *= 2 }
        var sum = [Double](repeating: 0, count: length / 2 + 1)
        var windows = 0.0
        let first = Int(0.1 * rate)
        for response in responses {
            var start = first
            repeat {
                let part = (0..<length).map { i -> Double in
                    let x = start + i < response.count ? response[start + i] : 0
                    return x * (0.5 - 0.5 * cos(2 * Double.pi * Double(i) / Double(length)))
                }
                let (re, im) = Spectrum.transform(part)
                let power = zip(re, im).map { $0 * $0 + $1 * $1 }
                let means = localMeans(power)
                for i in sum.indices { sum[i] += power[i] / (means[i] + 1e-300) }
                windows += 1
                start += length / 2
            } while Double(start - first + length) < 0.6 * decay * rate
        }
        let bin = rate / Double(length)
        let maxima = (1..<length / 2).filter { sum[$0] > sum[$0 - 1] && sum[$0] >= sum[$0 + 1] }
        let factor = pow(2, 1.0 / 3)
        var (low, high) = (0, 0)
        var worst = (level: -Double.infinity, frequency: 0.0)
        for m in maxima where (100...8000).contains(Double(m) * bin) {
            while Double(maxima[low]) * factor < Double(m) { low += 1 }
            while high < maxima.count, Double(maxima[high]) <= Double(m) * factor { high += 1 }
            let near = maxima[low..<high].map { sum[$0] }.sorted()
            let level = 10 * log10(sum[m] / near[near.count / 2])
            if level > worst.level { worst = (level, Double(m) * bin) }
        }
        return worst
    }

    /// Returns, for each bin, the mean of the bins within a third of an octave on either side.
    private static func localMeans(_ power: [Double]) -> [Double] {
        var running = [0.0]
        running.reserveCapacity(power.count + 1)
        for p in power { running.append(running[running.count - 1] + p) }
        let factor = pow(2, 1.0 / 3)
        return power.indices.map { i in
            let low = Int(Double(i) / factor)
            let high = min(power.count, Int(Double(i) * factor) + 1)
            return (running[high] - running[low]) / Double(high - low)
        }
    }
}
