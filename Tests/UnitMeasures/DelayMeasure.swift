// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Measures a delay: time and level of its repeats, the low-pass's loss at each, no clicks.
public func delayFigures() -> [Figure] { delayRepeatFigures() + delayLowPassFigures() + delayClickFigures() }

/// Measures repeats of a click without the low-pass: the largest error of time and level.
public func delayRepeatFigures() -> [Figure] {
    let cases: [(time: Float, feedback: Float, pingPong: Float)] = [
        (0.001, 99, 0), (0.25, 60, 0), (0.25, -60, 0), (0.25, 60, 1), (2, 50, 0),
    ]
    return cases.map { time, feedback, pingPong in
        let step = Int((Double(time) * 48_000).rounded())
        let responses = RoomResponse.paths(
            .delay, ["time": time, "feedback": feedback, "pingPong": pingPong, "cutoff": 20_000, "mix": 100],
            seconds: Double(time) * 8.5)
        var expected = [Double](repeating: 0, count: responses[0].count)
        var worst = 0.0
        for right in [false, true] {
            for i in expected.indices { expected[i] = 0 }
            // A click only on the left; in ping-pong half of it alternates.
            let crosses = pingPong > 0
            for k in 1...8 {
                let isRight = crosses && k % 2 == 0
                if isRight != right { continue }
                expected[k * step] = pow(Double(feedback) / 100, Double(k - 1)) * (crosses ? 0.5 : 1)
            }
            let output = responses[right ? 1 : 0]
            for i in expected.indices { worst = max(worst, abs(output[i] - expected[i])) }
        }
        return Figure(
            "delay \(time) s, \(feedback) %\(pingPong == 0 ? "" : ", ping-pong"), eight repeats, error",
            20 * log10(worst + 1e-15), "dB", .atMost(-120), against: "feedback^k at k times the time")
    }
}

/// Measures the low-pass's loss at its cutoff and well below it, from the first repeat to the second and to the third.
public func delayLowPassFigures() -> [Figure] {
    [Float(300), 3000, 12_000].flatMap { cutoff -> [Figure] in
        let response = RoomResponse.paths(
            .delay, ["time": 0.5, "feedback": 50, "cutoff": cutoff, "mix": 100], seconds: 1.9)[0]
        let first = level(response, repeat: 1, Double(cutoff))
        let firstLow = level(response, repeat: 1, 50)
        let lowLoss: Double = 10 * log10(1 + pow(50 / Double(cutoff), 2))
        var worst = 0.0
        var worstLow = 0.0
        for k in 2...3 {
            let passes = Double(k - 1)
            worst = max(worst, abs(first - level(response, repeat: k, Double(cutoff)) - 3.0103 * passes))
            worstLow = max(worstLow, abs(firstLow - level(response, repeat: k, 50) - lowLoss * passes))
        }
        return [
            Figure(
                "delay, low-pass \(cutoff) Hz, error at the cutoff", worst, "dB", .atMost(0.1),
                against: "3.01 dB a repeat"),
            Figure(
                "delay, low-pass \(cutoff) Hz, error at 50 Hz", worstLow, "dB", .atMost(0.1),
                against: "a first-order low-pass"),
        ]
    }
}

/// Returns the level of a repeat of half a second at 50 % feedback, which is compensated, by one term of a Fourier sum.
private func level(_ response: [Double], repeat k: Int, _ frequency: Double) -> Double {
    let start = k * 24_000 - 100
    var (re, im) = (0.0, 0.0)
    for i in 0..<16_000 {
        let phase = 2 * Double.pi * frequency * Double(i) / 48_000
        re += response[start + i] * cos(phase)
        im += response[start + i] * sin(phase)
    }
    return 10 * log10(re * re + im * im) + 20 * log10(2) * Double(k - 1)
}

/// Measures clicks while each parameter moves from end to end.
public func delayClickFigures() -> [Figure] {
    UnitType.delay.description.parameters.map { parameter in
        let range = parameter.identifier == "time" ? 0.01...0.5 : parameter.range  // heard within the three seconds
        let level = MovedTone.click(
            .delay, ["time": 0.1, "feedback": 50, "mix": 100], moving: parameter.identifier, from: range.lowerBound,
            to: range.upperBound)
        return Figure("delay, \(parameter.identifier) moved, click", level, "dB", .atMost(-60), against: "full scale")
    }
}
