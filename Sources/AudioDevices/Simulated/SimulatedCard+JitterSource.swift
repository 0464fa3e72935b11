// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

extension SimulatedCard {
    /// Seeded random numbers of a jitter's distribution, from a table of its quantiles.
    struct JitterSource: @unchecked Sendable {  // the table is written by `init` only
        let isNone: Bool
        private let quantiles: UnsafeMutablePointer<Double>
        private var random: SeededRandom
        private static let quantileCount = 4_096

        init(_ jitter: Jitter, seed: UInt64) {
            random = SeededRandom(seed: seed)
            isNone = jitter == .none
            quantiles = .allocate(capacity: Self.quantileCount)
            for i in 0..<Self.quantileCount {
                let p = (Double(i) + 0.5) / Double(Self.quantileCount)
                switch jitter {
                case .none: quantiles[i] = 0
                case .uniform(let bound): quantiles[i] = bound * (2 * p - 1)
                case .exponential(let mean): quantiles[i] = -mean * log(1 - p)
                }
            }
        }

        func deallocate() { quantiles.deallocate() }

        /// Returns the next deviation in seconds.
        @_noLocks
        mutating func next() -> Double { quantiles[Int(random.next() >> 52)] }
    }
}
