// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestTraits
import Testing

@testable import EarshotSimulation

/// The least error that an estimate of a clock can have (Cramér and Rao), even if it knows how the delays of packets are
/// distributed. `EARSHOT_FIGURES` prints a row of docs/figures/clock.md for each network.
@Suite(.optimized) struct ClockBoundTests {
    /// A distribution's density and share below, and the derivative of the density's logarithm, of delays in seconds.
    private struct Delays {
        var slope: (Double) -> Double
        var density: (Double) -> Double
        var share: (Double) -> Double

        init?(_ distribution: DelayDistribution) {
            switch distribution {
            case .normal(let mean, let deviation, let range):
                func below(_ x: Double) -> Double { 0.5 * erfc((mean - x) / deviation / 2.0.squareRoot()) }
                let (first, all) = (below(range.lowerBound), below(range.upperBound) - below(range.lowerBound))
                slope = { (mean - $0) / (deviation * deviation) }
                density = {
                    let z = ($0 - mean) / deviation
                    return exp(-z * z / 2) / (2 * Double.pi).squareRoot() / deviation / all
                }
                share = { (below($0) - first) / all }
            case .gamma(2, let scale, let range):
                func below(_ x: Double) -> Double {
                    let z = (x - range.lowerBound) / scale
                    return 1 - (1 + z) * exp(-z)
                }
                let all = below(range.upperBound)
                slope = { 1 / ($0 - range.lowerBound) - 1 / scale }
                density = {
                    let z = ($0 - range.lowerBound) / scale
                    return z * exp(-z) / scale / all
                }
                share = { below($0) / all }
            default: return nil
            }
        }
    }

    /// Returns what the packets of a second tell of a path's time, per square second: the variance of their score. Of a packet held
    /// up by the one before only a limit of its delay is known.
    private func information(_ distribution: DelayDistribution) throws -> Double {
        let delays = try #require(Delays(distribution))
        let quantiles = DelayQuantiles(distribution)
        var random = SeededRandom(seed: 1)
        var (last, sum, squares) = (0.0, 0.0, 0.0)
        let (packets, seconds) = (375, 4_000)
        for second in 0..<seconds {
            var score = 0.0
            for packet in 0..<packets {
                let sent = Double(second * packets + packet) / Double(packets)
                let arrival = sent + quantiles.value(at: random.unit())
                if arrival > last {
                    score -= delays.slope(arrival - sent)
                    last = arrival
                } else {
                    score -= delays.density(last - sent) / max(delays.share(last - sent), 1e-9)
                }
            }
            sum += score
            squares += score * score
        }
        let mean = sum / Double(seconds)
        return squares / Double(seconds) - mean * mean
    }

    /// Returns the 95th percentile in milliseconds of the error after some seconds of both directions.
    /// - Parameter rate: the deviation of the rate before; 0 if it is known.
    private func leastError(_ information: Double, seconds: Double, rate: Double) -> Double {
        let offset = 1 / (2 * information * seconds).squareRoot()
        let slope = offset * 12.0.squareRoot() / seconds
        return 1.96e3 * offset * (1 + 3 * rate * rate / (rate * rate + slope * slope)).squareRoot()
    }

    @Test(arguments: [NetworkProfile.Name.wifiGood, .wifiCongested])
    func `ten seconds of Wi-Fi do not tell two clocks' time as closely as a minute`(name: NetworkProfile.Name) throws {
        let information = try information(NetworkProfile(name).delay)
        let apart = 100e-6 / 3.0.squareRoot()
        let errors = [
            leastError(information, seconds: 1, rate: apart), leastError(information, seconds: 10, rate: apart),
            leastError(information, seconds: 10, rate: 0),
        ]
        let figures = errors.map { String(format: "%.2f", $0) }.joined(separator: " | ")
        print("clock bound: | \(name.rawValue) | \(figures) |")
        #expect(errors[0] > errors[1] && errors[1] > 1.5 * errors[2])
        if name == .wifiGood { #expect((0.2...0.3).contains(errors[1])) }
    }
}
