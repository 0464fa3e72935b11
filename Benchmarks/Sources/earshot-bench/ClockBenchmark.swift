// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase

/// ``DelayLockedLoop`` on the callbacks of a simulated 48 kHz card, on virtual time: the distance of its answers from the
/// callbacks' due times.
enum ClockBenchmark {
    /// The deviation of a callback's beginning from its due time.
    enum Jitter: String, CaseIterable {
        case uniform = "±100 µs"
        case exponential = "late by 100 µs in the mean"

        func draw(_ random: inout SplitMix) -> Double {
            switch self {
            case .uniform: 200e-6 * random.unit() - 100e-6
            case .exponential: -100e-6 * log(1 - random.unit())
            }
        }
    }

    struct Result {
        var block: Int
        var jitter: Jitter
        /// The 99th percentile of all callbacks from 5 to 30 s, of 20 seeds, in seconds.
        var error: Double
        /// The largest error of the measured drift after 20 s, in parts per million.
        var drift: Double
    }

    static func all() -> [Result] {
        Jitter.allCases.flatMap { jitter in
            [16, 64, 128, 256, 1_024].map { block in
                let runs = (1...20).map { seed in run(block, jitter, seed: UInt64(seed)) }
                let errors = runs.flatMap(\.errors).sorted()
                return Result(
                    block: block, jitter: jitter, error: errors[errors.count * 99 / 100],
                    drift: runs.map(\.drift).max() ?? .infinity)
            }
        }
    }

    private static func run(_ block: Int, _ jitter: Jitter, seed: UInt64) -> (errors: [Double], drift: Double) {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        var random = SplitMix(state: seed)
        let ppm = seed.isMultiple(of: 2) ? 300.0 : -300
        let rate = 48_000 * (1 + ppm * 1e-6)
        let start = HostTime(nanoseconds: 5_000_000_000)
        var errors: [Double] = []
        var drift = Double.infinity
        for call in 0..<Int(30 * rate) / block {
            let time = Double(call * block) / rate
            let due = start.advanced(bySeconds: time)
            let now = due.advanced(bySeconds: jitter.draw(&random))
            let answer = loop.update(sampleTime: Int64(call * block), now: now)
            if time >= 5 { errors.append(abs(answer.seconds(since: due))) }
            if time <= 20 { drift = abs(loop.driftPPM - ppm) }
        }
        return (errors, drift)
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct SplitMix {
    var state: UInt64

    /// Uniform in 0 ..< 1.
    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ (z >> 31)) >> 11) / Double(1 << 53)
    }
}
