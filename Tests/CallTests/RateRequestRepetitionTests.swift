// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotCall

/// `SlowLinkTests` has calls in which the repetitions are needed.
@Suite struct RateRequestRepetitionTests {
    /// Returns the milliseconds of the repetitions of two requests, the second of which comes 500 ms after the first.
    private func times(isFollowed: Bool, bitRate: Double = 230_000) -> [[Int]] {
        let requests = [RateRequest(bitRate: bitRate, overhead: 40), RateRequest(bitRate: 110_000, overhead: 40)]
        var repetition = RateRequestRepetition()
        var times: [[Int]] = [[], []]
        for ms in stride(from: 0, to: 5_000, by: 10) {
            if ms == 0 { repetition.note(requests[0], at: 10) }
            if ms == 500, isFollowed { repetition.note(requests[1], at: 10.5) }
            guard let due = repetition.takeDue(at: 10 + Double(ms) / 1_000 + 1e-6) else { continue }
            times[due == requests[0] ? 0 : 1].append(ms)
        }
        return times
    }

    @Test func `a request is repeated twice, and on a narrow link not at all`() {
        #expect(times(isFollowed: false) == [[400, 800], []])
        #expect(times(isFollowed: false, bitRate: 80_000) == [[], []])
    }

    /// The queue holds the first request, so that the sender has suspected its link long before.
    @Test func `a sender does not take a repetition for another finding`() {
        var policy = RatePolicy(rungs: [888_000, 320_000, 160_000, 80_000])
        policy.suspect(limit: 230_000, isSevere: true, sent: 888_000, at: 20)
        for delay in [0] + RateRequestRepetition.delays {
            policy.apply(limit: 230_000, sent: 160_000, at: 20.9 + delay)
        }
        #expect(policy.settled == 2 && policy.stepsDown == 1)
        // A finding has another bit rate, and comes again if the queue remains.
        policy.apply(limit: 225_000, sent: 160_000, at: 22)
        #expect(policy.settled == 3)
    }

    @Test func `a newer request is repeated instead`() {
        #expect(times(isFollowed: true) == [[400], [900, 1_300]])
    }
}
