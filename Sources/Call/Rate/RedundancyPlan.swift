// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The redundancy of a sender: up to two earlier packets with each new one, or one of them twice.
package struct RedundancyPlan: Hashable, Sendable {
    /// The distance to the repeated packet, in packets; 0 for none.
    package let near: Int
    /// The same of a second one, which is no nearer; 0 for none. The same one goes by itself, right behind the new packet.
    package let far: Int

    /// No redundancy.
    package static let none = RedundancyPlan(0, 0)
    /// The longest way back: further than that hardly any burst reaches, and the delay is that of a bad habit.
    static let longest = RTPSession.furthestAhead
    /// All plans, the cheapest first; among equally cheap ones the one with the least delay.
    static let all: [RedundancyPlan] =
        [none] + (1...longest).map { RedundancyPlan($0, 0) }
        + (1...longest).flatMap { far in (1...far).map { RedundancyPlan($0, far) } }
    /// The least share of datagrams that are lost with the one right before: no report tells, so one in seven.
    private static let sharedFate = 0.15

    init(_ near: Int, _ far: Int) {
        self.near = near
        self.far = far
    }

    /// The number of packets that are repeated with each new one.
    package var count: Int { (near > 0 ? 1 : 0) + (far > 0 ? 1 : 0) }
    /// Packets that a receiver waits at most for one that was lost.
    package var reach: Int { max(near, far) }

    /// The share of packets that stays lost where `loss` is the share that is, in bursts of `burst` on average: all of a packet's
    /// copies must meet with a loss. After a loss, the chance of another k packets on is L + (1 − L) λ^k, in the chain of
    /// two states that Gilbert used for such losses (BSTJ 39, 1960), with λ = 1 − 1/B − L/((1 − L) B).
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
