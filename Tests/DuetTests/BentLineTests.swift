// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

@Suite struct BentLineTests {
    /// Points four times a second, with even noise of a given reach.
    private func points(
        seconds: Int, noise: Double, seed: UInt64, _ value: (Double) -> Double
    ) -> [(x: Double, y: Double)] {
        var random = SeededRandom(seed: seed)
        return (0..<4 * seconds).map {
            let x = Double($0) / 4
            return (x, value(x) + noise * (2 * random.unit() - 1))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `a straight line has no bends`(seed: UInt64) throws {
        let points = points(seconds: 600, noise: 20e-6, seed: seed) { 0.003 - 150e-6 * $0 }
        let line = try #require(BentLine(points))
        #expect(line.bendCount == 0)
        for x in [-5, 0, 300, 605] as [Double] { #expect(abs(line.value(at: x) - (0.003 - 150e-6 * x)) < 2.5e-6) }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `bends are found`(seed: UInt64) throws {
        func truth(_ x: Double) -> Double { 100e-6 * x + 50e-6 * max(0, x - 40) - 20e-6 * max(0, x - 100) }
        let line = try #require(BentLine(points(seconds: 160, noise: 20e-6, seed: seed, truth)))
        #expect(line.bendCount == 2)
        for x in stride(from: 0.0, through: 160, by: 0.1) {
            #expect(abs(line.value(at: x) - truth(x)) < 12e-6)
        }
    }

    @Test func `exact points, and few ones, are no line`() {
        #expect(BentLine(points(seconds: 100, noise: 0, seed: 1) { 1e-5 * $0 + 1e-5 * max(0, $0 - 50) }) == nil)
        #expect(BentLine(points(seconds: 2, noise: 1e-5, seed: 1) { $0 }) == nil)
        #expect(BentLine([]) == nil)
    }
}
