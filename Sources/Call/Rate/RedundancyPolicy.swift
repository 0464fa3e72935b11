// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Decides how much a sender repeats: by the pattern of losses, the packet's length, the remote peer's acceptable delay and the
/// link's rate. Repetition begins within seconds of losses and ends some time after the last loss.
///
/// A value without clock or thread: times are seconds of any one clock.
package struct RedundancyPolicy: Sendable {
    /// The properties of a stream on which its redundancy depends.
    package struct Stream: Hashable, Sendable {
        /// The seconds of sound in a packet.
        package var packetDuration: Double
        /// The bits a second of the stream's payloads.
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
    /// The estimated mean length of a run of lost packets, in packets.
    package private(set) var burst = 1.0
    /// The bits a second for sound and redundancy together; nil for 3.2 times the bit rate of the sound.
    package var budget: Double?
    /// The maximum seconds that the remote peer's playout may wait.
    package var delayLimit = RedundancyPolicy.usualDelayLimit
    /// The loss in percent to announce to the codec for its own redundancy, at most 30; 0 if losses are too few to be worth it.
    package var codecLoss: Int { loss < 0.01 || counts.lost < 3 ? 0 : min(30, Int((loss * 100).rounded(.up))) }

    /// The default of ``delayLimit`` if the remote peer declares none.
    package static let usualDelayLimit = 0.08
    /// The acceptable lost packets a minute; and the lost packets a minute above which one more repetition is worth its bits if
    /// it adds no delay.
    private static let (bearable, heard) = (20.0, 1.5)
    /// The maximum seconds of sound in a packet that may be repeated twice at one distance. Short packets mean music; for speech,
    /// which has long packets, some losses are better than so much traffic.
    private static let shortPacket = 0.005
    private static let burstyLength = 1.5  // mean number of lost packets in a row from which losses count as bursty
    /// The seconds after which a loss counts about a third (1/e): for the share of losses, and for their pattern, which needs
    /// more losses.
    private static let (memory, burstMemory) = (5.0, 30.0)
    /// The seconds for which less redundancy must have sufficed before redundancy is reduced.
    private static let decreaseDelay = 8.0

    private struct Counts: Sendable {
        var expected = 0.0
        var lost = 0.0
    }
    private var counts = Counts()
    /// The numbers of lost packets and of bursts, fading with time. Both begin with ``doubt`` single losses, because a few
    /// packets are no pattern.
    private var (burstLost, bursts) = (RedundancyPolicy.doubt, RedundancyPolicy.doubt)
    private static let doubt = 8.0
    private var lastReportTime: Double?
    private var lessSufficesSince: Double?

    /// Creates a policy without losses.
    package init() {}

    /// Adds the losses since the previous report, and decides on ``plan``.
    /// - Parameter now: the time in seconds.
    package mutating func addPattern(_ pattern: LossPattern, of stream: Stream, at now: Double) {
        let elapsed = lastReportTime.map { max(0, now - $0) } ?? 0
        lastReportTime = now
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
        // A plan with more bits must avoid a fifth of the remaining losses; one with only a longer delay must avoid a third.
        let gain = wanted.residual(loss: loss, burst: burst) / max(1e-9, plan.residual(loss: loss, burst: burst))
        if !isAllowed(plan, stream) || counts.lost >= 2 && gain < (wanted.count > plan.count ? 0.8 : 0.66) {
            plan = wanted
            lessSufficesSince = nil
        } else {
            // Redundancy is reduced only if less would have sufficed for a while; the bits are reduced only with a margin.
            let isNearer = wanted.count == plan.count && wanted.reach < plan.reach
            let less = isNearer ? wanted : best(stream, bearable: 0.7 * Self.bearable)
            guard less.count < plan.count || less.count == plan.count && less.reach < plan.reach else {
                return lessSufficesSince = nil
            }
            guard let since = lessSufficesSince else { return lessSufficesSince = now }
            if now - since >= Self.decreaseDelay {
                plan = less
                lessSufficesSince = nil
            }
        }
    }

    /// Returns the cheapest plan whose remaining loss is acceptable. If there is none, returns the cheapest plan whose remaining
    /// loss is at most 1.25 times the least possible.
    private func best(_ stream: Stream, bearable: Double) -> RedundancyPlan {
        // Bursts vary in length: a plan for the mean length does not repair the long ones.
        let share = bearable / 60 * stream.packetDuration / (burst > Self.burstyLength ? 2 : 1)
        var leastResidual = Double.infinity
        for plan in RedundancyPlan.all where isAllowed(plan, stream) {
            let residual = plan.residual(loss: loss, burst: burst)
            if residual <= share { return residual > share * Self.heard / Self.bearable ? thicker(plan, stream) : plan }
            leastResidual = min(leastResidual, residual)
        }
        return RedundancyPlan.all.first {
            isAllowed($0, stream) && $0.residual(loss: loss, burst: burst) <= 1.25 * leastResidual
        } ?? .none
    }

    /// Returns the plan with one more repetition of each packet, which adds no delay, if that is allowed; otherwise the plan
    /// itself.
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
