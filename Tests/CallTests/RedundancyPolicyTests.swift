// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotCall

@Suite struct RedundancyPolicyTests {
    private static let speech = RedundancyPolicy.Stream(packetDuration: 0.020, bitRate: 24_000)
    private static let blocks = RedundancyPolicy.Stream(packetDuration: 128 / 48_000, bitRate: 768_000)

    /// Losses of a two-state chain, one second at a time, as a receiver's reports describe them.
    private struct Channel {
        let loss: Double
        let burst: Double
        var random: SeededRandom
        var isLost = false

        init(loss: Double, burst: Double = 1, seed: UInt64 = 1) {
            (self.loss, self.burst) = (loss, burst)
            random = SeededRandom(seed: seed)
        }

        mutating func second(_ packets: Int) -> LossPattern {
            var pattern = LossPattern()
            for _ in 0..<packets {
                // Bursts of one are losses without memory.
                let stays = burst > 1 ? 1 - 1 / burst : loss
                let enters = burst > 1 ? loss / (1 - loss) / burst : loss
                let was = isLost
                isLost = random.unit() < (isLost ? stays : enters)
                pattern.expected += 1
                if isLost { pattern.lost += 1 }
                if isLost && !was { pattern.bursts += 1 }
            }
            return pattern
        }
    }

    private func run(
        _ policy: inout RedundancyPolicy, _ channel: inout Channel, _ stream: RedundancyPolicy.Stream,
        _ seconds: Range<Int>
    ) {
        for second in seconds {
            policy.addPattern(channel.second(Int(1 / stream.packetDuration)), of: stream, at: Double(second))
        }
    }

    @Test func `no redundancy is sent while no packet is lost`() {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0)
        run(&policy, &channel, Self.speech, 0..<100)
        #expect(policy.plan == .none && policy.codecLoss == 0)
    }

    @Test(arguments: 1...8) func `redundancy starts within seconds of loss, and stops again after it`(seed: UInt64) {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0.05, seed: seed)
        run(&policy, &channel, Self.speech, 0..<5)
        #expect(policy.plan.count >= 1)
        var quiet = Channel(loss: 0)
        run(&policy, &quiet, Self.speech, 5..<8)
        #expect(policy.plan.count >= 1, "not at once")
        run(&policy, &quiet, Self.speech, 8..<60)
        #expect(policy.plan == .none)
    }

    @Test func `redundancy ends eight seconds after less would have been enough`() {
        var policy = RedundancyPolicy()
        var plans: [Int] = []
        for second in 0..<60 {
            let lost = second < 10 ? 3 : 0
            policy.addPattern(
                LossPattern(expected: 50, lost: lost, bursts: lost), of: Self.speech, at: Double(second))
            plans.append(policy.plan.count)
        }
        // The loss falls below the acceptable share 22 s after the start.
        #expect(plans[9..<30].allSatisfy { $0 >= 1 } && plans[30...].allSatisfy { $0 == 0 }, "\(plans)")
    }

    @Test(arguments: 1...8) func `single losses of speech need only a copy of the previous packet`(seed: UInt64) {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0.05, seed: seed)
        run(&policy, &channel, Self.speech, 0..<30)
        var chosen: [RedundancyPlan: Int] = [:]
        for second in 30..<130 {
            run(&policy, &channel, Self.speech, second..<second + 1)
            chosen[policy.plan, default: 0] += 1
        }
        #expect(chosen[RedundancyPlan(1, 0), default: 0] >= 50, "\(chosen)")
        #expect(chosen.keys.allSatisfy { $0.count >= 1 })
    }

    @Test func `10 % loss is met with two copies, or with one if the delay limit allows no more`() {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0.1)
        run(&policy, &channel, Self.speech, 0..<30)
        #expect(policy.plan.count == 2 && policy.plan.reach <= 4)
        policy.delayLimit = 0.020
        run(&policy, &channel, Self.speech, 30..<31)
        #expect(policy.plan == RedundancyPlan(1, 0))
    }

    @Test func `copies are sent far enough apart to survive a burst of losses`() {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0.03, burst: 2.5)
        var far = 0
        for second in 0..<160 {
            run(&policy, &channel, Self.speech, second..<second + 1)
            if second >= 60, policy.plan.reach >= 3 { far += 1 }
        }
        #expect(far > 50 && abs(policy.burst - 2.5) < 0.8)
        policy.delayLimit = 0.040
        run(&policy, &channel, Self.speech, 160..<161)
        #expect((1...2).contains(policy.plan.reach))
    }

    @Test func `short packets are repeated until only few per minute stay lost`() {
        for (loss, most) in [(0.01, 1.5), (0.05, 20)] {
            var policy = RedundancyPolicy()
            var channel = Channel(loss: loss)
            run(&policy, &channel, Self.blocks, 0..<30)
            #expect(policy.plan == RedundancyPlan(1, 1), "twice with the next, which costs a packet's delay, not two")
            let residual = policy.plan.residual(loss: loss, burst: 1)
            #expect(residual * 60 / Self.blocks.packetDuration < most)
        }
    }

    @Test func `without separate packets for copies, no packet is sent twice with the next one`() {
        var stream = Self.blocks
        stream.repeatsAlone = false
        for (loss, plan) in [(0.01, RedundancyPlan(1, 0)), (0.05, RedundancyPlan(1, 2))] {
            var policy = RedundancyPolicy()
            var channel = Channel(loss: loss)
            run(&policy, &channel, stream, 0..<30)
            #expect(policy.plan == plan)
        }
    }

    @Test func `redundancy stays within the budget and the delay limit`() {
        var policy = RedundancyPolicy()
        var channel = Channel(loss: 0.1)
        policy.budget = 52_000
        run(&policy, &channel, Self.speech, 0..<30)
        #expect(policy.plan.count == 1)
        policy.budget = 30_000
        run(&policy, &channel, Self.speech, 30..<31)
        #expect(policy.plan == .none, "at once")
        #expect(policy.codecLoss > 5)
        policy.budget = nil
        policy.delayLimit = 0.015
        run(&policy, &channel, Self.speech, 31..<40)
        #expect(policy.plan == .none, "it would come too late")
    }

    @Test func `outages and nonsensical reports do not start redundancy`() {
        var policy = RedundancyPolicy()
        var outage = LossPattern(expected: 10, lost: 0, bursts: 0)
        outage.outages = 1
        policy.addPattern(outage, of: Self.speech, at: 1)
        policy.addPattern(LossPattern(expected: -5, lost: -5, bursts: -5), of: Self.speech, at: 0)
        policy.addPattern(LossPattern(expected: 0, lost: 0, bursts: 0), of: Self.speech, at: 2)
        #expect(policy.plan == .none)
        policy.addPattern(LossPattern(expected: 1, lost: 60_000, bursts: 1), of: Self.speech, at: 3)
        #expect(policy.loss <= 0.5 && policy.plan.reach <= RedundancyPlan.longest)
    }

    /// Compares the formula with a simulated channel.
    @Test(arguments: [(0.05, 1.0), (0.1, 1), (0.03, 2.5), (0.05, 4)])
    func `the simulated residual loss matches the computed one`(
        loss: Double, burst: Double
    ) {
        var channel = Channel(loss: loss, burst: burst, seed: 5)
        let lost = (0..<400_000).map { _ in channel.second(1).lost > 0 }
        // No chain model predicts the loss for a copy in the very next packet.
        for plan in RedundancyPlan.all where plan.near != plan.far || plan.near == 0 {
            let left = lost.indices.dropLast(4).count {
                lost[$0] && (plan.near == 0 || lost[$0 + plan.near]) && (plan.far == 0 || lost[$0 + plan.far])
            }
            let share = Double(left) / Double(lost.count)
            let computed = plan.residual(loss: loss, burst: burst == 1 ? 1 / (1 - loss) : burst)
            #expect(abs(share - computed) < 0.08 * computed + 3e-4, "\(plan)")
        }
    }
}
