// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc
import TestSupport
import Testing

@testable import EarshotAudioDSP

/// A vowel: 40 harmonics of a gliding pitch.
private func vowel(_ n: Int) -> Float {
    let phase = 140 * Double(n) / 48_000 + 5 * Double(n) * Double(n) / 48_000 / 48_000
    return (1...40).reduce(0) { $0 + sine(1, frequency: Double($1) * phase, rate: 1, amplitude: 0.3 / Double($1)) }
}

/// Burg's method with doubles and without recursion, as in the paper: the coefficients of the next frame, the newest first.
private func burg(_ x: [Float], order: Int) -> [Double] {
    var forward = x.dropFirst().map(Double.init)
    var backward = x.dropLast().map(Double.init)
    var a: [Double] = [1]
    for _ in 0..<order {
        let product = zip(forward, backward).reduce(0) { $0 + $1.0 * $1.1 }
        let power = zip(forward, backward).reduce(0) { $0 + $1.0 * $1.0 + $1.1 * $1.1 }
        let k = 2 * product / power
        let (up, down) = (a + [0], [0] + a.reversed())
        a = zip(up, down).map { $0 - k * $1 }
        let (f, b) = (forward, backward)
        forward = zip(f, b).dropFirst().map { $0 - k * $1 }
        backward = zip(f, b).dropLast().map { $1 - k * $0 }
    }
    return a.indices.dropFirst().map { -a[$0] * pow(0.999_85, Double($0)) }
}

@Suite struct LinearPredictorTests {
    /// Returns a predictor's continuation of a signal.
    private func continued(_ past: [Float], order: Int, count: Int) -> [Float] {
        var predictor = LinearPredictor(order: order, historyCount: past.count)
        predictor.analyze(past)
        return (0..<count).map { _ in predictor.next() }
    }

    @Test(arguments: [100.0, 440, 1_043, 6_000])
    func `a sine is extrapolated`(frequency: Double) {
        let past = (0..<768).map { sine($0, frequency: frequency, rate: 48_000) }
        let expected = (0..<240).map { sine(past.count + $0, frequency: frequency, rate: 48_000) }
        #expect(errorDecibels(expected, continued(past, order: 320, count: 240)) < -28)
    }

    @Test func `two simultaneous notes are extrapolated`() {
        func chord(_ n: Int) -> Float {
            sine(n, frequency: 330, rate: 48_000, amplitude: 0.3)
                + sine(n, frequency: 495, rate: 48_000, amplitude: 0.2)
        }
        let next = continued((0..<768).map(chord), order: 320, count: 120)
        #expect(errorDecibels((0..<120).map { chord(768 + $0) }, next) < -28)
    }

    @Test func `a vowel is extrapolated when the predictor has as many coefficients as its pitch period`() {
        var errors: [(many: Double, few: Double)] = []
        for start in stride(from: 0, to: 4_000, by: 500) {
            let past = (0..<768).map { vowel(start + $0) }
            let expected = (0..<120).map { vowel(start + 768 + $0) }
            errors.append(
                (
                    errorDecibels(expected, continued(past, order: 320, count: 120)),
                    errorDecibels(expected, continued(past, order: 32, count: 120))
                ))
        }
        #expect(errors.reduce(0) { $0 + $1.many } / 8 < -12, "\(errors)")
        #expect(errors.reduce(0) { $0 + $1.few } / 8 > -6, "\(errors)")
    }

    @Test(arguments: [1, 2, 7, 16, 31, 32, 64, 320])
    func `single-precision prediction matches double precision`(order: Int) {
        var random = SeededRandom(seed: 3)
        let past = (0..<768).map { n in
            // Rounded to 16 bits, like PCM.
            ((0.5 * vowel(n) + 0.02 * Float(random.unit() - 0.5)) * 32_768).rounded() / 32_768
        }
        let coefficients = burg(past, order: order)
        var exact = past.map(Double.init)
        for _ in 0..<120 {
            exact.append(coefficients.indices.reduce(0) { $0 + coefficients[$1] * exact[exact.count - 1 - $1] })
        }
        let next = continued(past, order: order, count: 120)
        #expect(errorDecibels(exact.suffix(120).map { Float($0) }, next) < -50)
    }

    @Test func `the residual is measured and drives noise of the same spectrum`() {
        // x[n] = 1.6 x[n-1] - 0.8 x[n-2] + white noise of 0.01.
        var random = SeededRandom(seed: 5)
        func white() -> Float { Float((random.unit() - 0.5) * 0.01 * 12.0.squareRoot()) }
        var x: [Float] = [0, 0]
        for n in 2..<5_000 { x.append(1.6 * x[n - 1] - 0.8 * x[n - 2] + white()) }
        var predictor = LinearPredictor(order: 16, historyCount: 4_000)
        predictor.analyze(Array(x.suffix(4_000)))
        #expect(abs(decibels(Double(predictor.residual) / 0.01)) < 0.5)
        let made = (0..<20_000).map { _ in predictor.next(innovation: white()) }
        func power(_ x: [Float], lag: Int) -> Double {
            (lag..<x.count).reduce(0) { $0 + Double(x[$1]) * Double(x[$1 - lag]) } / Double(x.count - lag)
        }
        #expect(abs(decibels(power(made, lag: 0) / power(x, lag: 0)) / 2) < 1)
        #expect(abs(power(made, lag: 1) / power(made, lag: 0) - 1.6 / 1.8) < 0.03)
    }

    @Test func `silence is predicted as silence, and so are NaN and infinity`() {
        for past in [
            [Float](repeating: 0, count: 768), [.nan] + (1..<768).map(vowel), (1..<768).map(vowel) + [.infinity],
        ] {
            #expect(continued(past, order: 320, count: 1_000).allSatisfy { $0 == 0 })
        }
    }

    @Test(arguments: 0..<24, [24, 320])
    func `predictions of noise, clicks, full scale and decays exceed the peak by a quarter at most`(
        seed: Int, order: Int
    ) {
        var random = SeededRandom(seed: UInt64(seed))
        let count = order == 24 ? 300 : 768
        let past = (0..<count).map { i -> Float in
            switch seed % 4 {
            case 0: Float(random.unit() * 2 - 1)
            case 1: i == count / 2 ? 1 : 0
            case 2: i % 7 < 3 ? 1 : -1
            default: i < count / 2 ? vowel(i) : 0
            }
        }
        let peak = past.map(abs).max()!
        let next = continued(past, order: order, count: 20_000)
        #expect(next.allSatisfy { abs($0) <= max(peak, min(1, 1.251 * peak)) })
    }

    @Test(arguments: [1_393, 1_507, 1_629]) func `the continuation of a tone that grows has no flat tops`(start: Int) {
        let past = (0..<704).map { n -> Float in
            // Rounded to 16 bits, like PCM.
            let sample: Float = sine(start + n, frequency: 150, rate: 48_000, amplitude: 0.25)
            return (sample * 32_768).rounded() / 32_768
        }
        let next = continued(past, order: 256, count: 960)
        #expect(next.contains { abs($0) > 0.255 }, "this tone does not grow")
        let slopes = zip(next.dropFirst(), next).map { $0 - $1 }
        let curvature = zip(slopes.dropFirst(), slopes).map { abs($0 - $1) }
        let step: Float = 2 * .pi * 150 / 48_000  // the phase of a frame
        let usual = 0.25 * step * step
        let share = (curvature.max() ?? 0) / usual
        #expect(share < 6, "\(share)")
    }

    @Test func `a sound that has decayed does not return`() {
        let past = (0..<768).map { vowel($0) * max(0, 1 - Float($0) / 400) }
        let next = continued(past, order: 320, count: 480)
        #expect(decibels(Double(next.map(abs).max()!)) < -60)
    }

    @Test func `coefficients predict another signal of the same spectrum`() {
        var learnt = LinearPredictor()
        var other = LinearPredictor()
        learnt.analyze((0..<768).map(vowel))
        other.restart((0..<768).map { -0.25 * vowel($0) }, as: learnt)
        for _ in 0..<120 { #expect(abs(learnt.next() + 4 * other.next()) < 1e-4) }
    }

    @Test(.enabled(if: earshot_vector_width() >= 8), arguments: [16, 32, 48, 272, 768])
    func `wide vector lattice steps are bit-identical to narrow ones`(count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        for _ in 0..<50 {
            let values = (0..<2 * count + 33).map { _ in Float(random.unit() * 2 - 1) }
            let k = Float(random.unit() * 2 - 1)
            typealias Step = (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>) -> Float
            // From an odd address.
            func stepped(_ step: Step) -> [UInt32] {
                var copy = values
                let sum = copy.withUnsafeMutableBufferPointer {
                    step($0.baseAddress! + 1, $0.baseAddress! + count + 17)
                }
                return (copy + [sum]).map(\.bitPattern)
            }
            let narrow = stepped { earshot_lattice($0, $1, count, k) }
            #expect(stepped { earshot_lattice_8($0, $1, count, k) } == narrow)
            if earshot_vector_width() == 16 { #expect(stepped { earshot_lattice_16($0, $1, count, k) } == narrow) }
        }
    }
}

@Suite struct LevelTests {
    @Test func `the level of a sine is its peak and half its squared amplitude`() {
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 4_800)
        for c in 0..<2 { for i in 0..<4_800 { buffer.channels[c][i] = sine(i, frequency: 1_000, rate: 48_000) } }
        let level = Level(of: buffer.channels, frameCount: 4_800)
        #expect(abs(level.peak - 0.5) < 0.001)
        #expect(abs(level.meanSquare - 0.125) < 0.001)
    }

    @Test func `zero frames measure as silence`() {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 1)
        #expect(Level(of: buffer.channels, frameCount: 0).meanSquare == 0)
    }
}
