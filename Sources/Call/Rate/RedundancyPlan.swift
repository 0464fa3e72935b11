// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A sender's redundancy: each packet repeats up to two earlier packets, or one earlier packet twice.
package struct RedundancyPlan: Hashable, Sendable {
    /// The distance to the repeated packet, in packets; 0 for none.
    package let near: Int
    /// The distance to a second repeated packet, at least ``near``; 0 for none. If both distances are equal, the packet's second
    /// copy is sent alone, right after the new packet.
    package let far: Int

    /// No redundancy.
    package static let none = RedundancyPlan(0, 0)
    /// The maximum distance in packets: few bursts of losses are longer, and the delay would be too long.
    static let longest = RTPSession.furthestAhead
    /// All plans, ordered by the number of repeated packets, then by the delay.
    static let all: [RedundancyPlan] =
        [none] + (1...longest).map { RedundancyPlan($0, 0) }
        + (1...longest).flatMap { far in (1...far).map { RedundancyPlan($0, far) } }
    /// The assumed minimum probability that a datagram is lost if the one sent just before was lost. Reports do not contain it.
    private static let sharedFate = 0.15

    init(_ near: Int, _ far: Int) {
        self.near = near
        self.far = far
    }

    /// The number of packets that are repeated with each new one.
    package var count: Int { (near > 0 ? 1 : 0) + (far > 0 ? 1 : 0) }
    /// The maximum packets for which a receiver waits for a lost packet's copy.
    package var reach: Int { max(near, far) }

    /// Returns the share of packets that stays lost if the share `loss` of datagrams is lost, in bursts of `burst` on average.
    ///
    /// A packet stays lost if all its copies are lost. With L = `loss` and B = `burst`, the packet k after a lost one is lost too
    /// with the probability L + (1 − L) λ^k, where λ = 1 − 1/B − L/((1 − L) B): the two-state chain of Gilbert (BSTJ 39, 1960).
    /// For a copy sent right after another one, k is 1 and λ at least ``sharedFate``.
    func residual(loss: Double, burst: Double) -> Double {
        guard loss > 0, loss < 1 else { return loss }
        let memory = max(0, 1 - 1 / max(1, burst) - loss / (1 - loss) / max(1, burst))
        func again(_ packets: Int) -> Double {
            var power = 1.0
            for _ in 0..<packets { power *= memory }
            return loss + (1 - loss) * power
        }
        var share = loss
        if near > 0 { share *= again(near) }
        if far > near { share *= again(far - near) }
        if far == near, far > 0 { share *= loss + (1 - loss) * max(memory, Self.sharedFate) }
        return share
    }
}
