// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// The state of a ``LossProcess``.
struct LossChain {
    private var isBad = false
    private var blackout = 0.0..<0.0
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns true if the next datagram is lost.
    /// - Parameters:
    ///   - draw: uniform in 0 ..< 1.
    ///   - elapsed: seconds of the call; never less than before.
    mutating func loses(_ process: LossProcess, draw: Double, at elapsed: Double) -> Bool {
        switch process {
        case .none: return false
        case .independent(let share): return draw < share
        case .bursts(let share, let packets):
            // With L for `share` and B for `packets`: a bad state continues with probability 1 − 1/B, and a good one becomes bad
            // with L/(1 − L)/B. So the share L is lost, in bursts of B datagrams on average.
            isBad = draw < (isBad ? 1 - 1 / packets : share / (1 - share) / packets)
            return isBad
        case .blackouts(let share, let seconds):
            guard share > 0 else { return false }
            while blackout.upperBound <= elapsed {
                let pause = -log(1 - random.unit()) * seconds * (1 - share) / share
                blackout = blackout.upperBound + pause..<blackout.upperBound + pause + seconds
            }
            return blackout.contains(elapsed)
        }
    }
}
