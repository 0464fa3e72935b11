// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotPlayout

/// The documented times of a tracker, each tested on both sides of its value.
@Suite struct DelayTrackerTimesTests {
    /// Adds packets of 2.5 ms each in the order of arrival. Returns the depth at the end.
    private func depth(
        _ tracker: inout DelayTracker, _ times: Range<Double>, every packet: Double = 0.0025,
        _ delay: (Double) -> Double
    ) -> Double {
        let count = Int(((times.upperBound - times.lowerBound) / packet).rounded())
        let packets = (0..<count).map { n in
            let sent = times.lowerBound + Double(n) * packet
            return (sent: sent, arrival: sent + delay(sent))
        }
        for (sent, arrival) in packets.sorted(by: { $0.arrival < $1.arrival }) {
            _ = tracker.range(at: arrival)
            tracker.add(offset: arrival - sent, at: arrival, duration: packet)
        }
        let range = tracker.range(at: times.upperBound)
        return range.wanted - range.least
    }

    @Test(arguments: [(2.8, true), (3.2, false)])
    func `a stall in the first three seconds raises the depth at once`(begin: Double, counts: Bool) {
        var tracker = DelayTracker(latencyProfile: .talk)
        let found = depth(&tracker, 0..<5) { t in (begin..<begin + 0.06).contains(t) ? begin + 0.06 - t : 0 }
        #expect((found > 0.030) == counts, "\(found)")
    }

    @Test(arguments: [(11.7, true), (12.4, false)])
    func `a single stall is remembered for twelve seconds`(apart: Double, counts: Bool) {
        var tracker = DelayTracker(latencyProfile: .listen)
        let found = depth(&tracker, 0..<(10.5 + apart)) { t in
            for begin in [10, 10 + apart] where (begin..<begin + 0.06).contains(t) { return begin + 0.06 - t }
            return 0
        }
        #expect((found > 0.030) == counts, "\(found)")
    }

    @Test func `packets that stay late are a stall for 60 ms, and then raise the depth`() {
        for (wait, follows) in [(0.055, false), (0.075, true)] {
            var tracker = DelayTracker(latencyProfile: .talk)
            _ = depth(&tracker, 0..<10) { _ in 0 }
            // The first of them arrives 20 ms after it was sent.
            let found = depth(&tracker, 10..<(10 + wait)) { _ in 0.020 }
            #expect((found > 0.018) == follows, "\(found) after \(wait)")
        }
    }

    @Test(arguments: [(0.45, false), (0.6, true)])
    func `a path delay beyond the ceiling is accepted after half a second`(wait: Double, follows: Bool) {
        var tracker = DelayTracker(latencyProfile: .talk)
        _ = depth(&tracker, 0..<20) { _ in 0 }
        _ = depth(&tracker, 20..<(20 + wait)) { _ in 0.2 }
        #expect((tracker.range(at: 20.9).least > 0.19) == follows)
    }

    @Test(arguments: [(LatencyProfile.sing, 6.0), (.talk, 12), (.listen, 60)])
    func `long delays are remembered as long as the latency profile specifies`(profile: LatencyProfile, memory: Double)
    {
        for (wait, isKnown) in [(0.9, true), (1.08, false)] {
            var tracker = DelayTracker(latencyProfile: profile)
            // A single spell of a quarter of a second, so that none is forgotten early.
            _ = depth(&tracker, 0..<10) { _ in 0 }
            _ = depth(&tracker, 10..<10.5) { t in t < 10.25 ? 0.012 : 0 }
            let found = depth(&tracker, 10.5..<(10.25 + wait * memory)) { _ in 0 }
            #expect((found > 0.011) == isKnown, "\(found) after \(wait) of the memory")
        }
    }

    @Test func `an offset change of two seconds means a restarted sender, and a smaller one does not`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        let before = tracker.isForeign(1_000, at: 0)
        #expect(!before, "nothing is known of it yet")
        _ = depth(&tracker, 0..<2) { _ in 0.5 }
        for (offset, isForeign) in [(2.45, false), (2.55, true), (-1.45, false), (-1.55, true), (0.5, false)] {
            let found = tracker.isForeign(offset, at: 2)
            #expect(found == isForeign, "\(offset)")
        }
        tracker.reset()
        let after = tracker.isForeign(1_000, at: 2)
        #expect(!after)
    }

    /// Groups of 20 ms packets with one time of sending.
    @Test(arguments: [(1, 0.0), (2, 0.020), (6, 0.100), (16, 0.2)])
    func `the bound is the ceiling plus up to 200 ms for packets that a sender collects`(
        group: Int, gathered: Double
    ) {
        var tracker = DelayTracker(latencyProfile: .sing)
        for n in 0..<(16 * 15) {
            let arrival = Double(n / group * group + group) * 0.020
            tracker.add(offset: arrival - Double(n) * 0.020, at: arrival, duration: 0.020)
        }
        #expect(abs(tracker.bound - (0.015 + gathered)) < 0.001, "\(tracker.bound)")
    }

    @Test func `occasional pairs of packets do not count as collected by the sender`() {
        var tracker = DelayTracker(latencyProfile: .sing)
        for n in 0..<900 {
            let arrival = Double(n % 3 == 1 ? n + 1 : n) * 0.020
            tracker.add(offset: arrival - Double(n) * 0.020, at: arrival, duration: 0.020)
        }
        #expect(tracker.bound == 0.015)
    }

    @Test func `the longest packet counts as long as it is in the newest windows`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        _ = depth(&tracker, 0..<2, every: 0.020) { _ in 0 }
        #expect(tracker.packetLength == 0.020)
        _ = depth(&tracker, 2..<2.5, every: 0.0025) { _ in 0 }
        #expect(tracker.packetLength == 0.020)
        // A window of `talk` is 0.75 s.
        _ = depth(&tracker, 2.5..<4, every: 0.0025) { _ in 0 }
        #expect(tracker.packetLength == 0.0025)
    }

    @Test func `the tail is the lateness of the latest packet beyond the target delay`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        _ = depth(&tracker, 0..<10) { _ in 0 }
        #expect(tracker.tail < 0.000_2)
        // Some of 5 ms, fewer than the allowed late share.
        let found = depth(&tracker, 10..<15) { t in t.truncatingRemainder(dividingBy: 1.5) < 0.0025 ? 0.005 : 0 }
        #expect(found < 0.000_2 && abs(tracker.tail - 0.005) < 0.000_2, "\(found), \(tracker.tail)")
    }

    @Test func `the age counts from the first known delay, and restarts when delays are forgotten`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        #expect(tracker.age(at: 7) == 0)
        _ = depth(&tracker, 7..<10) { _ in 0 }
        #expect(abs(tracker.age(at: 10) - 3) < 1e-9)
        tracker.forgetDelays()
        #expect(tracker.age(at: 10) == 0)
        let found = depth(&tracker, 10..<11) { _ in 0.030 }
        #expect(abs(tracker.age(at: 11) - 0.97) < 1e-9 && found < 1e-9)
        #expect(abs(tracker.range(at: 11).least - 0.030) < 1e-9)
    }

    @Test func `a new latency profile takes effect with the next packet`() {
        var tracker = DelayTracker(latencyProfile: .listen)
        var random = SeededRandom(seed: 3)
        let late = depth(&tracker, 0..<20) { _ in random.unit() < 0.002 ? 0.010 : 0.001 * random.unit() }
        #expect(late > 0.009, "\(late)")
        tracker.set(.talk)
        let range = tracker.range(at: 20)
        #expect(range.wanted - range.least < 0.0013, "\(range.wanted - range.least)")
    }
}
