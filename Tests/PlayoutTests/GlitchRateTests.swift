// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

@Suite(.optimized) struct GlitchRateTests {
    /// The lateness of packets in seconds relative to the earliest: a distribution, packets per second, and the time of
    /// observation.
    struct Link: CustomTestStringConvertible, Sendable {
        let name: String
        let packetsPerSecond: Double
        let seconds: Double
        let draw: @Sendable (inout SeededRandom) -> Double

        var testDescription: String { name }

        /// Returns the forecast for a buffer of each depth.
        func forecast(seed: UInt64, seconds: Double) -> PlayoutForecast {
            var random = SeededRandom(seed: seed)
            var forecast = PlayoutForecast()
            for n in 0..<Int(seconds * packetsPerSecond) {
                forecast.add(delay: draw(&random), at: Double(n) / packetsPerSecond)
            }
            return forecast
        }

        /// Returns the runs per minute that begin at each depth or a greater one, in an hour of another day.
        func truth(_ depths: [Double]) -> [Double] {
            var random = SeededRandom(seed: 77)
            var runs = depths.map { _ in 0 }
            var wasLate = depths.map { _ in false }
            for _ in 0..<Int(3_600 * packetsPerSecond) {
                let delay = draw(&random)
                for (at, depth) in depths.enumerated() {
                    if delay > depth, !wasLate[at] { runs[at] += 1 }
                    wasLate[at] = delay > depth
                }
            }
            for at in depths.indices.dropLast().reversed() { runs[at] = max(runs[at], runs[at + 1]) }
            return runs.map { Double($0) / 60 }
        }
    }

    private static func exponential(_ mean: Double) -> @Sendable (inout SeededRandom) -> Double {
        { -log(1 - $0.unit()) * mean }
    }

    static let links = [
        Link(name: "exponential of 2 ms, 400 a second", packetsPerSecond: 400, seconds: 60, draw: exponential(0.002)),
        Link(name: "exponential of 4 ms, 100 a second", packetsPerSecond: 100, seconds: 30, draw: exponential(0.004)),
        Link(name: "gamma of shape 2 and 6 ms", packetsPerSecond: 100, seconds: 60) {
            -(log(1 - $0.unit()) + log(1 - $0.unit())) * 0.006
        },
        Link(name: "Pareto of shape 0.2", packetsPerSecond: 100, seconds: 60) {
            (pow(1 - $0.unit(), -0.2) - 1) / 0.2 * 0.001
        },
        Link(name: "half a normal of 5 ms", packetsPerSecond: 400, seconds: 30) {
            abs((-2 * log(1 - $0.unit())).squareRoot() * cos(2 * .pi * $0.unit())) * 0.005
        },
    ]

    @Test func `rare and unseen glitches are forecast within a factor of 3`() {
        let depths = PlayoutForecast().knownDepths
        var (allTold, allGood) = (0, 0)
        for link in Self.links {
            let truth = link.truth(depths)
            var (told, good, worst) = (0, 0, 1.0)
            for seed in 1...20 {
                let rates = link.forecast(seed: UInt64(seed), seconds: link.seconds).glitchRates
                for (rate, truth) in zip(rates, truth) where truth * 60 >= 10 {
                    switch rate {
                    case .seen(let rate): #expect(rate < 3 * truth && rate > truth / 3, "\(link.name)")
                    case .extrapolated(let rate):
                        told += 1
                        worst = max(worst, rate / truth, truth / rate)
                        if rate < 3 * truth, rate > truth / 3 { good += 1 }
                    case .fewerThan(let bound):
                        told += 1
                        if truth < 3 * bound { good += 1 }
                    }
                }
            }
            if printsFigures { print("forecast, \(link.name): \(good) of \(told) within 3, worst \(worst)") }
            #expect(told >= 15, "rare glitches were asked about")
            #expect(Double(good) >= 0.7 * Double(told) && worst < 10, "\(link.name): \(good) of \(told), \(worst)")
            allTold += told
            allGood += good
        }
        #expect(Double(allGood) >= 0.85 * Double(allTold), "\(allGood) of \(allTold)")
    }

    @Test func `a greater depth is never forecast to be worse`() {
        for link in Self.links {
            for seed in 1...5 {
                let rates = link.forecast(seed: UInt64(seed), seconds: 10).glitchRates.map(\.perMinute)
                #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 >= $1 }, "\(link.name) \(rates)")
            }
        }
    }

    @Test func `a bound is reported instead of a rate if hardly any packet is late`() {
        var forecast = PlayoutForecast()
        for n in 0..<1_000 { forecast.add(delay: n == 500 ? 0.003 : 0, at: Double(n) * 0.01) }
        // A count of 0 in 10 s may be 3, and one may be 4.7, each in one of twenty observations.
        guard case .fewerThan(let none) = forecast.glitchRate(atDepth: 0.004),
            case .fewerThan(let one) = forecast.glitchRate(atDepth: 0.002)
        else {
            Issue.record("\(forecast.glitchRates)")
            return
        }
        #expect(abs(none - 18) < 0.1 && abs(one - 28.5) < 0.2)
        #expect(forecast.text(forDepths: [0.004]) == "4 ms: fewer than 18 glitches a minute")
    }

    @Test func `packets that are all late do not count as a single glitch`() {
        var forecast = PlayoutForecast()
        var random = SeededRandom(seed: 3)
        // All above 1 ms, half above 10.
        for n in 0..<6_000 { forecast.add(delay: 0.001_5 + 0.017 * random.unit(), at: Double(n) * 0.01) }
        #expect(forecast.glitchesPerMinute(atDepth: 0.001) >= forecast.glitchesPerMinute(atDepth: 0.010))
        #expect(forecast.glitchesPerMinute(atDepth: 0.001) > 1_000)
    }

    @Test func `half a second is enough for a rate, and zero seconds give an infinite one`() {
        #expect(GlitchRate.rates(runs: [6, 5], depths: [0.001, 0.002], seconds: 0.5).map(\.perMinute) == [720, 600])
        #expect(GlitchRate.rates(runs: [6], depths: [0.001], seconds: 0).map(\.perMinute) == [.infinity])
    }

    @Test func `a rate is shown with two significant digits`() {
        #expect("\(GlitchRate.seen(0.312))" == "0.31" && "\(GlitchRate.seen(23.4))" == "23")
        #expect("\(GlitchRate.extrapolated(0.01))" == "0.01" && "\(GlitchRate.extrapolated(0.002))" == "0.01")
        #expect("\(GlitchRate.seen(0))" == "none" && "\(GlitchRate.fewerThan(2.04))" == "fewer than 2")
    }

    /// Garwood's limits of 1936, per minute.
    @Test(arguments: [(1, 0.051, 4.744), (2, 0.355, 6.296), (3, 0.818, 7.754), (4, 1.366, 9.154)])
    func `a small number of glitches is reported by its confidence limits`(count: Double, least: Double, most: Double) {
        let tail = GlitchRate.rates(runs: [1_000, count, count], depths: [0.001, 0.002, 0.060], seconds: 60)
        #expect(tail.last == .extrapolated(least), "\(tail)")
        // Without a tail the maximum is reported.
        #expect(GlitchRate.rates(runs: [count], depths: [0.001], seconds: 60) == [.fewerThan(most)])
        #expect(GlitchRate.rates(runs: [count], depths: [0.001], seconds: 120) == [.fewerThan(most / 2)])
    }

    @Test func `fewer than five glitches give an upper bound, and five give a rate`() {
        #expect(GlitchRate.rates(runs: [0], depths: [0.001], seconds: 60) == [.fewerThan(2.996)])
        #expect(GlitchRate.rates(runs: [5], depths: [0.001], seconds: 60) == [.seen(5)])
        #expect(GlitchRate.rates(runs: [4.9], depths: [0.001], seconds: 60) == [.fewerThan(9.154)])
        // A fading count stands for the nearest whole one.
        #expect(GlitchRate.rates(runs: [1.4], depths: [0.001], seconds: 60) == [.fewerThan(4.744)])
        #expect(GlitchRate.rates(runs: [1.6], depths: [0.001], seconds: 60) == [.fewerThan(6.296)])
    }

    @Test func `the bound far beyond all observations is one in the number of runs in the tail`() {
        let rates = GlitchRate.rates(runs: [400, 40, 0, 0], depths: [0.001, 0.002, 0.003, 0.5], seconds: 60)
        #expect(rates.last == .fewerThan(1.0 / 40), "\(rates)")
    }

    @Test(arguments: [
        (0.001, "0.01"), (0.014, "0.01"), (0.1, "0.1"), (0.35, "0.35"), (0.996, "1"), (1, "1"), (1.04, "1"),
        (1.06, "1.1"),
        (9.94, "9.9"), (9.96, "10"), (10, "10"), (99.6, "100"),
    ])
    func `a number is shown with at most two significant digits`(number: Double, text: String) {
        #expect(GlitchRate.short(number) == text)
        #expect(GlitchRate.extrapolated(number).description == text)
        #expect(GlitchRate.fewerThan(number).description == "fewer than \(text)")
    }

    @Test func `a tail begins at the depth with thirty remaining runs, or with ten`() throws {
        func runs(_ runs: [Double]) -> Double? {
            DelayTail(runs: runs, depths: runs.indices.map { 0.001 * Double($0 + 1) })?.runCount
        }
        #expect(runs([100, 40, 30, 29, 9]) == 30)
        #expect(runs([100, 30, 29.9, 12]) == 30)
        #expect(runs([29, 20, 10, 9.9]) == 10)
        #expect(runs([9.9, 5, 1]) == nil, "too few")
        #expect(runs([200, 100, 50]) == nil, "nothing lies behind the greatest depth")
        #expect(runs([20, 15, 10]) == nil)
    }

    @Test func `an exponential tail is extrapolated, and contains all its runs at its start`() throws {
        // A tenth for every 5 ms.
        let depths = (0..<14).map { 0.001 * Double($0) }
        let runs = depths.map { 2_000 * pow(10, -$0 / 0.005) }
        let tail = try #require(DelayTail(runs: runs, depths: depths))
        let start = depths[try #require(runs.lastIndex { $0 >= 30 })]
        #expect(abs(tail.runs(beyond: start) - tail.runCount) < 0.001)
        #expect(abs(tail.runs(beyond: 0) - tail.runCount) < 0.001)
        for depth in [0.012, 0.015] {
            let right = 2_000 * pow(10, -depth / 0.005)
            #expect((0.5...3).contains(tail.runs(beyond: depth) / right), "\(tail.runs(beyond: depth)), not \(right)")
        }
    }
}
