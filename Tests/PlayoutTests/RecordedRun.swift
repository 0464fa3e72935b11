// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

/// A seeded run of a ``PlayoutRig`` and the hashes of its output.
struct RecordedRun: Sendable, CustomTestStringConvertible {
    let name: String
    /// The hash of the statistics of every 50 ms and of the output's length.
    let statistics: UInt64
    /// The hash of the output; nil if it depends on a codec's library.
    let output: UInt64?
    let rig: @Sendable () -> PlayoutRig

    var testDescription: String { name }

    /// FNV-1a over words of 64 bits.
    struct Hash {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x0000_0100_0000_01b3 }

        mutating func add(_ statistics: PlayoutStatistics) {
            for field in Mirror(reflecting: statistics).children {
                switch field.value {
                case let count as Int: add(UInt64(bitPattern: Int64(count)))
                case let number as Double: add(number.bitPattern)
                case let flag as Bool: add(flag ? 1 : 0)
                default: preconditionFailure("\(field.label ?? "") is of another type")
                }
            }
        }
    }

    func run() throws -> (statistics: UInt64, output: UInt64, result: PlayoutRig.Result) {
        var rig = rig()
        rig.historyInterval = 0.05
        let result = try rig.run()
        var statistics = Hash()
        for entry in result.history { statistics.add(entry.statistics) }
        statistics.add(result.statistics)
        statistics.add(UInt64(result.output.count))
        var output = Hash()
        for sample in result.output { output.add(UInt64(sample.bitPattern)) }
        return (statistics.value, output.value, result)
    }
}

extension RecordedRun {
    /// A voice computed with integers, so that its bits do not depend on a library: a triangle of 115 to 140 Hz, a new pitch
    /// every 0.2 s, over noise at −50 dBFS; after every 0.9 s a pause of 0.3 s.
    static let voice: @Sendable (Int) -> Float = { n in
        let pause = n % 57_600 >= 43_200
        let period = 340 + 4 * ((n / 9_600) % 20)
        let phase = n % period
        let triangle = Float(abs(2 * phase - period)) / Float(period) - 0.5
        var random = SeededRandom(seed: UInt64(n))
        return (pause ? 0 : 0.4 * triangle) + 0.003 * Float(random.unit() - 0.5)
    }

    /// One-way delays of up to `jitter` seconds above 1 ms, with a `loss` of packets in pairs.
    static func network(_ seed: UInt64, jitter: Double, loss: Double = 0) -> (Int, Double) -> Double? {
        var random = SeededRandom(seed: seed)
        let delays: [Double] = (0..<60_000).map { _ in 0.001 + jitter * random.unit() * random.unit() }
        let lost: [Bool] = (0..<60_000).map { _ in random.unit() < loss / 2 }
        return { sequence, _ in lost[sequence] || lost[sequence + 1] ? nil : delays[sequence] }
    }
}
