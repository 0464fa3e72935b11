import Foundation

extension SimulatedCard {
    /// Seeded draws from a jitter's distribution, out of a table of its quantiles.
    struct JitterSource: @unchecked Sendable {  // the table is written by `init` only
        let isNone: Bool
        private let quantiles: UnsafeMutablePointer<Double>
        private var state: UInt64
        private static let count = 4_096

        init(_ jitter: Jitter, seed: UInt64) {
            state = seed
            isNone = jitter == .none
            quantiles = .allocate(capacity: Self.count)
            for i in 0..<Self.count {
                let p = (Double(i) + 0.5) / Double(Self.count)
                switch jitter {
                case .none: quantiles[i] = 0
                case .uniform(let bound): quantiles[i] = bound * (2 * p - 1)
                case .exponential(let mean): quantiles[i] = -mean * log(1 - p)
                }
            }
        }

        func deallocate() { quantiles.deallocate() }

        /// Seconds, by SplitMix64 (Steele, Lea and Flood 2014).
        @_noLocks
        mutating func next() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return quantiles[Int((z ^ (z >> 31)) >> 52)]
        }
    }
}
