// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Decides how much a sender repeats: by the pattern of losses, the packet's length, the remote peer's acceptable delay and the
/// link's rate. It begins within seconds of losses and ends some time after the last.
///
/// A value without clock or thread: times are seconds of any one clock.
package struct RedundancyPolicy: Sendable {
    /// The properties of a stream on which its redundancy depends.
    package struct Stream: Hashable, Sendable {
        /// The seconds of sound in a packet.
        package var packetDuration: Double
        /// The bits a second of its payloads.
        package var bitRate: Double
        /// True if packets may also be repeated alone.
        package var repeatsAlone: Bool

        /// Creates the properties of a stream.
        package init(packetDuration: Double, bitRate: Double, repeatsAlone: Bool = true) {
            self.packetDuration = packetDuration
            self.bitRate = bitRate
            self.repeatsAlone = repeatsAlone
        }
    }

    /// The current redundancy.
    package private(set) var plan = RedundancyPlan.none
    /// The estimated share of lost packets.
    package private(set) var loss = 0.0
    /// The mean length of a run of lost packets for which the plan was chosen.
    package private(set) var burst = 1.0
    /// The bits a second for sound and redundancy together; nil for three times the sound and a fifth.
    package var budget: Double?
    /// The maximum seconds that the remote peer's playout may wait.
    package var delayLimit = RedundancyPolicy.usualDelayLimit
    /// The loss in percent for which the codec's own redundancy is worth its bits; 0 for none.
    package var codecLoss: Int { loss < 0.01 || counts.lost < 3 ? 0 : min(30, Int((loss * 100).rounded(.up))) }

    /// The default of ``delayLimit`` if the remote peer declares none.
    package static let usualDelayLimit = 0.08
    /// The acceptable lost packets a minute; and the same where more bits alone help.
    private static let (bearable, heard) = (20.0, 1.5)
    /// The maximum seconds of a packet that may be repeated twice: short packets are music. Speech in long packets tolerates more
    /// losses than its link does traffic.
    private static let shortPacket = 0.005
    private static let isBursty = 1.5  // packets in a row, on average
    /// The seconds after which a loss counts a third: for the share of losses, and for their pattern, which needs more of them.
    private static let (memory, burstMemory) = (5.0, 30.0)
    /// The seconds for which less redundancy must have sufficed before it is reduced.
    private static let decreaseDelay = 8.0

    private struct Counts: Sendable {
        var expected = 0.0
        var lost = 0.0
    }
    private var counts = Counts()
    /// Losses and bursts, with some single losses at first: a few packets are no pattern.
    private var (burstLost, bursts) = (RedundancyPolicy.doubt, RedundancyPolicy.doubt)
    private static let doubt = 8.0
    private var lastTime: Double?
    private var enoughSince: Double?

    /// Creates a policy without losses.
    package init() {}

    /// Adds a report of losses since the previous one, and decides.
    /// - Parameter now: seconds.
    package mutating func addPattern(_ pattern: LossPattern, of stream: Stream, at now: Double) {
        let elapsed = lastTime.map { max(0, now - $0) } ?? 0
        lastTime = now
        counts.expected = fade(counts.expected, elapsed, Self.memory) + Double(max(0, pattern.expected))
        counts.lost = fade(counts.lost, elapsed, Self.memory) + Double(max(0, pattern.lost))
        burstLost = Self.doubt + fade(burstLost - Self.doubt, elapsed, Self.burstMemory) + Double(max(0, pattern.lost))
        bursts = Self.doubt + fade(bursts - Self.doubt, elapsed, Self.burstMemory) + Double(max(0, pattern.bursts))
        loss = counts.expected > 0 ? min(0.5, counts.lost / counts.expected) : 0
        burst = max(1, burstLost / max(1, bursts))
        decide(stream, at: now)
    }

    private func fade(_ sum: Double, _ elapsed: Double, _ time: Double) -> Double {
        // (1 + t/8T)^-8 approximates e^(-t/T) equally on every machine, without a library.
        let step = 1 + elapsed / (8 * time)
        let square = step * step
        let fourth = square * square
        return sum / (fourth * fourth)
    }

    private mutating func decide(_ stream: Stream, at now: Double) {
        let wanted = best(stream, bearable: Self.bearable)
        // More bits must avoid a fifth of the remaining losses, and a longer delay alone a third.
        let gain = wanted.residual(loss: loss, burst: burst) / max(1e-9, plan.residual(loss: loss, burst: burst))
        if !isAllowed(plan, stream) || counts.lost >= 2 && gain < (wanted.count > plan.count ? 0.8 : 0.66) {
            plan = wanted
            enoughSince = nil
        } else {
            // Less redundancy only if it would have sufficed for a while; fewer bits only with a margin.
            let isNearer = wanted.count == plan.count && wanted.reach < plan.reach
            let less = isNearer ? wanted : best(stream, bearable: 0.7 * Self.bearable)
            guard less.count < plan.count || less.count == plan.count && less.reach < plan.reach else {
                return enoughSince = nil
            }
            guard let since = enoughSince else { return enoughSince = now }
            if now - since >= Self.decreaseDelay {
                plan = less
                enoughSince = nil
            }
        }
    }

    /// Returns the cheapest plan whose remaining loss is acceptable; if there is none, the cheapest of those about as good as the
    /// best.
    private func best(_ stream: Stream, bearable: Double) -> RedundancyPlan {
        // Bursts vary: a plan for the mean length leaves the long ones.
        let share = bearable / 60 * stream.packetDuration / (burst > Self.isBursty ? 2 : 1)
        var least = Double.infinity
        for plan in RedundancyPlan.all where isAllowed(plan, stream) {
            let residual = plan.residual(loss: loss, burst: burst)
            if residual <= share { return residual > share * Self.heard / Self.bearable ? thicker(plan, stream) : plan }
            least = min(least, residual)
        }
        return RedundancyPlan.all.first {
            isAllowed($0, stream) && $0.residual(loss: loss, burst: burst) <= 1.25 * least
        } ?? .none
    }

    /// Returns the plan with one more repetition in each packet, which adds no delay.
    private func thicker(_ plan: RedundancyPlan, _ stream: Stream) -> RedundancyPlan {
        let twice = RedundancyPlan(plan.near, plan.near)
        return plan.count == 1 && isAllowed(twice, stream) ? twice : plan
    }

    private func isAllowed(_ plan: RedundancyPlan, _ stream: Stream) -> Bool {
        guard plan.count > 0 else { return true }
        return Double(plan.reach) * stream.packetDuration <= delayLimit + 0.0005
            && (plan.near != plan.far || stream.repeatsAlone && stream.packetDuration <= Self.shortPacket)
            && Double(1 + plan.count) * stream.bitRate <= budget ?? 3.2 * stream.bitRate
    }
}
