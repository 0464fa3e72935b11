import AudioBase
import Testing
import TestSupport

@testable import AudioDSP

@Suite struct LinearPredictorTests {
    @Test(arguments: [100.0, 440, 1_043, 6_000])
    func `a sine is carried on`(frequency: Double) {
        var predictor = LinearPredictor()
        let past = (0..<predictor.historyCount).map { sine($0, frequency: frequency, rate: 48_000) }
        predictor.analyze(past)
        let next = (0..<240).map { _ in predictor.next() }
        let expected = (0..<240).map { sine(past.count + $0, frequency: frequency, rate: 48_000) }
        #expect(errorDecibels(expected, next) < -20)
    }

    @Test func `two notes are carried on`() {
        var predictor = LinearPredictor()
        func chord(_ n: Int) -> Float {
            sine(n, frequency: 330, rate: 48_000, amplitude: 0.3)
                + sine(n, frequency: 495, rate: 48_000, amplitude: 0.2)
        }
        predictor.analyze((0..<predictor.historyCount).map(chord))
        let next = (0..<120).map { _ in predictor.next() }
        #expect(errorDecibels((0..<120).map { chord(predictor.historyCount + $0) }, next) < -20)
    }

    @Test func `silence stays silence`() {
        var predictor = LinearPredictor()
        predictor.analyze([Float](repeating: 0, count: predictor.historyCount))
        #expect((0..<1_000).allSatisfy { _ in predictor.next() == 0 })
    }

    @Test(arguments: 0..<20)
    func `noise, clicks and full scale never run away`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var predictor = LinearPredictor(order: 24, historyCount: 300)
        let past = (0..<300).map { i -> Float in
            seed % 3 == 0 ? Float(random.unit() * 2 - 1) : seed % 3 == 1 ? (i == 150 ? 1 : 0) : (i % 7 < 3 ? 1 : -1)
        }
        predictor.analyze(past)
        for _ in 0..<20_000 { #expect(abs(predictor.next()) <= 2) }
    }
}

@Suite struct LevelTests {
    @Test func `a sine measures its peak and half its square`() {
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 4_800)
        for c in 0..<2 { for i in 0..<4_800 { buffer.channels[c][i] = sine(i, frequency: 1_000, rate: 48_000) } }
        let level = Level(of: buffer.channels, frameCount: 4_800)
        #expect(abs(level.peak - 0.5) < 0.001)
        #expect(abs(level.meanSquare - 0.125) < 0.001)
    }

    @Test func `no frames measure as silence`() {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 1)
        #expect(Level(of: buffer.channels, frameCount: 0).meanSquare == 0)
    }
}
