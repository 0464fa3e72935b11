// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotCall

@Suite struct RatePolicyTests {
    /// The bits per second of PCM and Opus on the wire.
    private static let rungs = [888_000.0, 320_000, 160_000, 80_000, 40_000, 21_300]

    private func policy() -> RatePolicy { RatePolicy(rungs: Self.rungs) }

    @Test(arguments: [(800_000.0, 1), (230_000, 2), (90_000, 3), (57_000, 4), (28_800, 5)])
    func `the policy steps down at once to the rung that the link carries`(limit: Double, rung: Int) {
        var policy = policy()
        policy.apply(limit: limit, sent: 888_000, at: 10)
        #expect(policy.rung == rung && policy.stepsDown == 1 && !policy.isTooSlow && policy.limit == limit)
    }

    @Test func `a link below the last rung is reported as too slow until it recovers`() {
        var policy = policy()
        policy.apply(limit: 15_000, sent: 888_000, at: 10)
        #expect(policy.rung == 5 && policy.isTooSlow)
        policy.tick(at: 19.9)
        #expect(policy.isTooSlow)
        policy.tick(at: 20.1)
        #expect(!policy.isTooSlow)
        // There is only one rung.
        var only = RatePolicy(rungs: [888_000])
        only.apply(limit: 500_000, sent: 888_000, at: 1)
        #expect(only.rung == 0 && only.isTooSlow)
    }

    @Test func `packets sent before a step down do not cause another one`() {
        var policy = policy()
        policy.apply(limit: 90_000, sent: 888_000, at: 10)
        for at in [10.2, 10.4, 10.8] { policy.apply(limit: 90_000, sent: 80_000, roundTrip: 0.1, at: at) }
        #expect(policy.rung == 3 && policy.stepsDown == 1)
        policy.apply(limit: 90_000, sent: 80_000, roundTrip: 0.1, at: 11.3)
        #expect(policy.rung == 4, "it is too much all the same")
        policy.apply(limit: 30_000, sent: 40_000, roundTrip: 0.1, at: 11.4)
        #expect(policy.rung == 5, "what does not fit is left at once")
    }

    @Test func `redundancy is reduced before the bit rate of the sound`() {
        var policy = policy()
        policy.apply(limit: 900_000, sent: 1_700_000, at: 10)
        #expect(policy.rung == 0 && policy.room(at: 10) == 900_000)
        policy.apply(limit: 870_000, sent: 888_000, at: 12)
        #expect(policy.rung == 1)
    }

    /// Advances without findings, in steps of 10 ms, until the policy has climbed to a rung.
    private func climb(_ policy: inout RatePolicy, from start: Double, to rung: Int) -> Double {
        var at = start
        while policy.rung > rung, at < start + 200 {
            at += 0.01
            policy.tick(at: at)
        }
        return at
    }

    @Test func `the policy steps up after a time without trouble, and further within seconds`() {
        var policy = policy()
        policy.apply(limit: 28_800, sent: 888_000, at: 10)
        #expect(abs(climb(&policy, from: 10, to: 4) - 15) < 0.05)
        #expect(abs(climb(&policy, from: 15, to: 0) - 23) < 0.05)
        #expect(policy.stepsUp == 5)
        for second in 24...90 { policy.tick(at: Double(second)) }
        #expect(policy.rung == 0 && policy.room(at: 90) == nil)
    }

    @Test func `a failed step up is retried after ever longer waits, which a success resets`() {
        var policy = policy()
        policy.apply(limit: 230_000, sent: 888_000, at: 0)
        var (at, waits) = (0.0, [Double]())
        for _ in 0..<6 {
            let up = climb(&policy, from: at, to: 1)
            waits.append((up - at).rounded())
            at = up + 0.3
            policy.apply(limit: 230_000, sent: 320_000, at: at)
            #expect(policy.rung == 2)
        }
        #expect(waits == [5, 10, 20, 40, 60, 60])
        at = climb(&policy, from: at, to: 0) + 10
        policy.tick(at: at)
        policy.apply(limit: 230_000, sent: 888_000, at: at)
        #expect(abs(climb(&policy, from: at, to: 1) - at - 5) < 0.05)
    }

    @Test func `sending pauses as long as the queue needs to drain, for at most 750 ms`() {
        for (limit, pause) in [(28_800.0, 0.75), (90_000, 0.25), (460_000, 0.14), (700_000, 0)] {
            var policy = policy()
            policy.apply(limit: limit, sent: 888_000, at: 10)
            #expect(policy.isPaused(at: 10.001) == (pause > 0))
            #expect(!policy.isPaused(at: 10.005 + pause) && (pause == 0 || policy.isPaused(at: 9.995 + pause)))
        }
    }

    @Test func `an unconfirmed suspicion lasts two seconds, and a confirmed one stays`() {
        var policy = policy()
        policy.suspect(limit: 90_000, isSevere: false, sent: 888_000, at: 9)
        #expect(policy.rung == 0)
        policy.suspect(limit: 90_000, isSevere: true, sent: 888_000, at: 10)
        // Meanwhile the queue empties, and the sound continues.
        #expect(policy.rung == 5 && !policy.isPaused(at: 10.1))
        policy.tick(at: 10.3)
        #expect(policy.rung == 5)
        policy.tick(at: 10.4)
        #expect(policy.rung == 3)
        policy.tick(at: 11.9)
        #expect(policy.rung == 3)
        policy.tick(at: 12.1)
        #expect(policy.rung == 0)
        policy.suspect(limit: 90_000, isSevere: true, sent: 888_000, at: 20)
        policy.apply(limit: 90_000, sent: 80_000, at: 20.5)
        policy.tick(at: 23)
        #expect(policy.rung == 3)
    }

    @Test func `a suspicion pauses sending if even the last rung would keep the queue long`() {
        var policy = policy()
        policy.suspect(limit: 28_800, isSevere: true, sent: 888_000, at: 10)
        #expect(policy.rung == 5 && policy.isPaused(at: 10.7) && !policy.isPaused(at: 10.8))
        policy.apply(limit: 28_800, sent: 21_300, at: 10.9)
        #expect(!policy.isPaused(at: 11), "it has waited for that already")
    }

    @Test func `the known limit of a link is kept when another stream is negotiated`() {
        var policy = policy()
        policy.apply(limit: 90_000, sent: 888_000, at: 10)
        var same = self.policy()
        same.follow(policy)
        #expect(same.rung == policy.rung && same.limit == 90_000 && same.stepsDown == 1)
        var opus = RatePolicy(rungs: [64_000, 32_000])
        opus.follow(policy)
        #expect(opus.rung == 0 && opus.stepsDown == 1 && opus.rungs == [64_000, 32_000])
        var wide = RatePolicy(rungs: [1_000_000, 160_000, 80_000])
        wide.follow(policy)
        #expect(wide.rung == 2)
        var free = self.policy()
        free.follow(wide)
        free.follow(self.policy())
        #expect(free.rung == 0 && free.limit == nil)
    }

    @Test func `plain reports of 30 % loss or a lasting longer round trip cause a step down`() {
        var policy = policy()
        for second in 0..<20 { policy.apply(loss: 0.1, roundTrip: 0.05, at: Double(second)) }
        policy.apply(loss: 0, roundTrip: 0.4, at: 20)
        policy.apply(loss: 0, roundTrip: 0.05, at: 21)
        #expect(policy.rung == 0, "one late report is none")
        policy.apply(loss: 0.3, roundTrip: 0.05, at: 22)
        #expect(policy.rung == 1 && !policy.isMeasured)
        policy.apply(loss: 0, roundTrip: 0.3, at: 24)
        policy.apply(loss: 0, roundTrip: 0.3, at: 25)
        #expect(policy.rung == 2)
    }

    @Test func `extreme numbers in reports neither trap nor give an invalid rung`() {
        var policy = policy()
        for value in [0, -1, .infinity, -.infinity, .nan, 1e300, .leastNonzeroMagnitude] {
            policy.apply(limit: value, sent: value, roundTrip: value, at: 1)
            policy.apply(loss: value, roundTrip: value, at: 2)
            policy.suspect(limit: value, isSevere: true, sent: value, at: 3)
            policy.tick(at: 4)
            #expect(Self.rungs.indices.contains(policy.rung))
        }
    }
}
