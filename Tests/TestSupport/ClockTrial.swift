// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// The deviation of a callback's beginning from its due time.
package enum CallJitter: Sendable, CaseIterable {
    /// Up to 100 µs early or late.
    case uniform
    /// Only late, by 100 µs on average.
    case exponential

    /// Seconds.
    package func draw(_ random: inout SeededRandom) -> Double {
        switch self {
        case .uniform: 200e-6 * random.unit() - 100e-6
        case .exponential: -100e-6 * log(1 - random.unit())
        }
    }
}

/// A ``DelayLockedLoop`` on the callbacks of a 48 kHz card, on virtual time.
package struct ClockTrial {
    /// For each callback: its due time in seconds from the start, and the loop's error in seconds.
    package private(set) var calls: [(time: Double, error: Double)] = []
    /// The loop at the end.
    package private(set) var loop = DelayLockedLoop(sampleRate: 48_000)
    private var random: SeededRandom
    private let start = HostTime(nanoseconds: 5_000_000_000)
    private var frame: Int64 = 0
    private var time = 0.0

    /// The same seed gives the same jitter.
    package init(seed: UInt64 = 1) { random = SeededRandom(seed: seed) }

    /// Runs a card for this many seconds that is `ppm` fast, with these blocks in turn.
    package mutating func run(seconds: Double, blocks: [Int], ppm: Double = 0, jitter: CallJitter? = nil) {
        let end = time + seconds
        var call = 0
        while time < end {
            let late = jitter?.draw(&random) ?? 0
            let due = start.advanced(bySeconds: time)
            let answer = loop.update(sampleTime: frame, now: due.advanced(bySeconds: late))
            calls.append((time, answer.seconds(since: due)))
            advance(blocks[call % blocks.count], ppm: ppm)
            call += 1
        }
    }

    /// Runs one callback that is this late, of a card without drift.
    package mutating func call(late: Double, block: Int) {
        let due = start.advanced(bySeconds: time)
        let answer = loop.update(sampleTime: frame, now: due.advanced(bySeconds: late))
        calls.append((time, answer.seconds(since: due)))
        advance(block, ppm: 0)
    }

    /// Frames without a callback: the device reports that it skipped them.
    package mutating func skip(_ frames: Int) { advance(frames, ppm: 0) }

    /// The clock advances and the counter does not.
    package mutating func suspend(seconds: Double) { time += seconds }

    private mutating func advance(_ frames: Int, ppm: Double) {
        frame += Int64(frames)
        time += Double(frames) / (48_000 * (1 + ppm * 1e-6))
    }

    /// Returns the quantile `p` of the errors' magnitudes between two times, in microseconds.
    package func microseconds(_ p: Double, from: Double, to: Double = .infinity) -> Double {
        let errors = calls.filter { $0.time >= from && $0.time < to }.map { abs($0.error) * 1e6 }.sorted()
        return errors.isEmpty ? .infinity : errors[min(errors.count - 1, Int(p * Double(errors.count)))]
    }
}
