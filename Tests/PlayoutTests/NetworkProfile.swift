// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A network's effect on packets, from a seed: the usual profiles, in seconds and shares.
struct NetworkProfile {
    /// The delay of a packet, without loss, reordering and stalls.
    enum Jitter {
        case uniform(ClosedRange<Double>)
        /// Within three standard deviations.
        case normal(mean: Double, deviation: Double)
        /// At least `least`, with this mean above it, limited to `most`; shape 2.
        case gamma(least: Double, mean: Double, most: Double)
    }
    let name: String
    var jitter: Jitter
    var loss = 0.0
    /// The mean number of packets lost in a row.
    var burst = 1.0
    var reordered = 0.0
    /// The link holds everything for `length` in each `period`, and then delivers it at once.
    var stall: (length: Double, period: Double)?
    /// The time of the first stall.
    var stallsFrom = 0.0

    static let lan = NetworkProfile(name: "lan", jitter: .uniform(0.001...0.003))
    static let wifiGood = NetworkProfile(name: "wifi-good", jitter: .normal(mean: 0.040, deviation: 0.005), loss: 0.002)
    static let wifiCongested = NetworkProfile(
        name: "wifi-congested", jitter: .gamma(least: 0.020, mean: 0.012, most: 0.060), loss: 0.03, burst: 2.5,
        reordered: 0.02, stall: (0.150, 5))

    /// The one-way delay of each packet in the order of sending, nil for a lost one.
    func delays(seed: UInt64) -> (_ sequence: Int, _ sent: Double) -> Double? {
        let state = State(profile: self, random: SeededRandom(seed: seed))
        return { _, sent in state.next(sent) }
    }

    /// Returns the measured delay above the minimum that `quantile` of the packets do not exceed.
    func delay(atQuantile quantile: Double, seed: UInt64) -> Double {
        let draw = delays(seed: seed)
        let delays = (0..<200_000).compactMap { draw($0, Double($0) * 0.02) }.sorted()
        return delays[Int(Double(delays.count) * quantile)] - delays[0]
    }

    private final class State {
        let profile: NetworkProfile
        var random: SeededRandom
        var isLosing = false

        init(profile: NetworkProfile, random: SeededRandom) {
            self.profile = profile
            self.random = random
        }

        func next(_ sent: Double) -> Double? {
            // Gilbert and Elliott: a loss follows a loss with 1 − 1 / B, and a received packet with L / (1 − L) / B.
            let loss = profile.loss
            isLosing =
                random.unit() < (isLosing ? 1 - 1 / profile.burst : loss / (1 - loss) / profile.burst)
            var delay = wait()
            if random.unit() < profile.reordered { delay += 0.020 }
            if let stall = profile.stall, sent >= profile.stallsFrom {
                let since = (sent - profile.stallsFrom).truncatingRemainder(dividingBy: stall.period)
                delay = max(delay, stall.length - since + (since < stall.length ? 0.020 : -1))
            }
            return isLosing ? nil : delay
        }

        private func wait() -> Double {
            switch profile.jitter {
            case .uniform(let range): return range.lowerBound + random.unit() * (range.upperBound - range.lowerBound)
            case .normal(let mean, let deviation):
                while true {
                    let z = (-2 * log(1 - random.unit())).squareRoot() * cos(2 * .pi * random.unit())
                    if abs(z) <= 3 { return mean + z * deviation }
                }
            case .gamma(let least, let mean, let most):
                let sum = -log(1 - random.unit()) - log(1 - random.unit())
                return min(most, least + sum * mean / 2)
            }
        }
    }
}
