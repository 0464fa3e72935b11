// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotPlayout

@Suite struct DelayTrackerTests {
    /// Adds packets of 2.5 ms from `times.lowerBound` on with the given delays, in the order of arrival. Returns the depth at the
    /// end.
    private func feed(
        _ tracker: inout DelayTracker, _ times: Range<Double>, every packet: Double = 0.0025, drift: Double = 0,
        _ delay: (Double) -> Double
    ) -> Double {
        var n = Int((times.lowerBound / packet).rounded())
        var packets: [(sent: Double, arrival: Double)] = []
        while Double(n) * packet < times.upperBound {
            let sent = Double(n) * packet
            packets.append((sent, sent + delay(sent)))
            n += 1
        }
        for (sent, arrival) in packets.sorted(by: { $0.arrival < $1.arrival }) {
            _ = tracker.range(at: arrival)
            tracker.add(offset: arrival - sent * (1 + drift), at: arrival, duration: packet)
        }
        let range = tracker.range(at: times.upperBound)
        return range.wanted - range.least
    }

    @Test(arguments: [LatencyProfile.sing, .talk, .listen])
    func `the depth is the smallest that meets the latency profile's late share`(profile: LatencyProfile) {
        var tracker = DelayTracker(latencyProfile: profile)
        var random = SeededRandom(seed: 5)
        // Up to 1 ms, but twice the setting's share up to its maximum: each is too rare to be worth waiting for.
        let share = 2 * profile.lateShare
        let depth = feed(&tracker, 0..<90, every: profile == .sing ? 0.020 : 0.0025) { _ in
            random.unit() < share ? 0.001 + (profile.ceiling - 0.001) * random.unit() : 0.001 * random.unit()
        }
        let right = 0.001 + (profile.ceiling - 0.001) / 2
        #expect(abs(depth - right) < 0.5 * right, "\(depth), not \(right)")
    }

    @Test(arguments: [LatencyProfile.sing, .talk, .listen])
    func `evenly spread delays give the depth of the latency profile's late share`(
        profile: LatencyProfile
    ) {
        var tracker = DelayTracker(latencyProfile: profile)
        var random = SeededRandom(seed: 5)
        // Levels of a packet spread evenly over 10 ms: the late share is the share of the 10 ms.
        let depth = feed(&tracker, 0..<90) { _ in 0.020 + 0.010 * random.unit() }
        let right = 0.010 * (1 - profile.lateShare)
        #expect(depth < right + 0.000_3 && depth > right - 0.000_3, "\(depth)")
    }

    @Test(arguments: [(LatencyProfile.sing, 0.006), (.talk, 0.001)])
    func `a low-latency profile waits slightly longer if that saves many packets`(
        profile: LatencyProfile, right: Double
    ) {
        var tracker = DelayTracker(latencyProfile: profile)
        var random = SeededRandom(seed: 5)
        // One of 500 is 6 ms late, which both settings allow: 12 packets in the memory of `sing`, for 5 ms.
        let depth = feed(&tracker, 0..<60, every: 0.001) { t in
            Int((t * 1000).rounded()) % 500 == 0 ? 0.006 : 0.001 * random.unit()
        }
        #expect(abs(depth - right) < 0.000_3, "\(depth)")
    }

    @Test func `a steady connection has a depth of zero`() {
        var tracker = DelayTracker(latencyProfile: .sing)
        #expect(feed(&tracker, 0..<20) { _ in 0.001 } < 1e-9)
    }

    @Test func `a single stall does not raise the depth`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        var random = SeededRandom(seed: 1)
        let before = feed(&tracker, 0..<20) { _ in 0.002 * random.unit() }
        let after = feed(&tracker, 20..<20.5) { t in max(0.002 * random.unit(), 20.15 - t) }
        #expect(before < 0.0021 && after < 0.0021, "\(before), then \(after)")
    }

    @Test func `a repeated stall is followed at once, and forgotten when it does not occur again`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        let stall = { (t: Double) in max(0, 0.060 - t.truncatingRemainder(dividingBy: 5)) }
        _ = feed(&tracker, 1..<9.9, stall)
        let depth = feed(&tracker, 9.9..<10.2, stall)
        #expect(depth > 0.035 && depth <= 0.061, "\(depth)")
        #expect(feed(&tracker, 10.2..<22.9) { _ in 0 } < 0.002)
    }

    @Test func `increased jitter is followed within a fifth of a second`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        var random = SeededRandom(seed: 2)
        _ = feed(&tracker, 0..<20) { _ in 0.001 * random.unit() }
        let depth = feed(&tracker, 20..<20.2) { _ in 0.020 * random.unit() }
        #expect(depth > 0.013, "\(depth)")
    }

    @Test(arguments: [(LatencyProfile.sing, 3.8), (.talk, 7.6)])
    func `reduced jitter is followed within seconds`(profile: LatencyProfile, wait: Double) {
        var tracker = DelayTracker(latencyProfile: profile)
        var random = SeededRandom(seed: 3)
        _ = feed(&tracker, 0..<30) { _ in 0.012 * random.unit() }
        let depth = feed(&tracker, 30..<(30 + wait)) { _ in 0.001 * random.unit() }
        #expect(depth < 0.0012, "\(depth)")
    }

    @Test(arguments: [(LatencyProfile.sing, 0.005), (.talk, 0.040)])
    func `rare long delays are remembered while they recur at their usual interval`(
        profile: LatencyProfile, late: Double
    ) {
        var tracker = DelayTracker(latencyProfile: profile)
        // Every 2.5 s some wait, at least one per cent of all: two of three windows of `talk` have none.
        let delay = { (t: Double) in t.truncatingRemainder(dividingBy: 2.5) < 0.05 ? late : 0 }
        _ = feed(&tracker, 0..<30, delay)
        for n in 0..<40 {
            let depth = feed(&tracker, (30 + Double(n) / 4)..<(30 + Double(n + 1) / 4), delay)
            #expect(depth > 0.9 * late, "\(depth)")
        }
    }

    @Test func `the depth never exceeds the ceiling`() {
        var tracker = DelayTracker(latencyProfile: .sing)
        var random = SeededRandom(seed: 4)
        let depth = feed(&tracker, 0..<30) { _ in 0.050 * random.unit() }
        #expect(depth > 0.014 && depth <= 0.0151, "\(depth)")
    }

    @Test func `packets too late for the ceiling do not raise the depth`() {
        var tracker = DelayTracker(latencyProfile: .sing)
        // 4 % are 50 to 90 ms late, which no depth below 15 ms would change.
        let depth = feed(&tracker, 0..<30) { t in
            Int(t * 400) % 25 == 0 ? 0.050 + t.truncatingRemainder(dividingBy: 0.04) : 0
        }
        #expect(depth < 0.001, "\(depth)")
    }

    @Test(arguments: [0.030, 0.200, 1.5])
    func `a lastingly longer path is followed within a second, and a shorter one at once`(step: Double) {
        var tracker = DelayTracker(latencyProfile: .talk)
        _ = feed(&tracker, 0..<20) { _ in 0 }
        _ = feed(&tracker, 20..<21) { _ in step }
        #expect(tracker.range(at: 21).wanted >= step - 0.001)
        #expect(tracker.range(at: 21).wanted < step + 0.001)
        _ = feed(&tracker, 21..<40) { _ in 0 }
        #expect(tracker.range(at: 40).wanted < 0.001)
    }

    @Test func `packets that a sender collects before sending are waited for beyond the ceiling`() {
        var tracker = DelayTracker(latencyProfile: .sing)
        // Six AAC units in a packet.
        let unit = 1024 / 44_100.0
        for n in 0..<2_000 {
            let arrival = Double(n / 6 * 6 + 6) * unit
            _ = tracker.range(at: arrival)
            tracker.add(offset: arrival - Double(n) * unit, at: arrival, duration: unit)
        }
        let range = tracker.range(at: 2_000 * unit)
        #expect(abs(range.wanted - range.least - 5 * unit) < 0.001, "\(range.wanted - range.least)")
    }

    @Test func `stalls too long for the histogram raise the depth to the ceiling`() {
        var tracker = DelayTracker(latencyProfile: .listen)
        let depth = feed(&tracker, 0..<40) { t in max(0, 0.8 - t.truncatingRemainder(dividingBy: 4)) }
        #expect(depth > 0.4 && depth < 0.511, "\(depth)")
    }

    @Test func `learned delays survive a better estimate of the drift`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        var random = SeededRandom(seed: 6)
        // The device's counter begins anywhere; after some seconds the line is 40 ppm more accurate than before.
        _ = feed(&tracker, 5_000..<5_004, drift: 40e-6) { _ in 0.010 * random.unit() }
        // Occasionally one is as late as before, so that the spell has not ended.
        let depth = feed(&tracker, 5_004..<5_012, drift: 40e-6) { t in
            t.truncatingRemainder(dividingBy: 2) < 0.0025 ? 0.008 : 0.002 * random.unit()
        }
        #expect(tracker.drift > 20e-6)
        #expect(depth > 0.009 && tracker.age(at: 5_012) > 11.9, "\(depth)")
    }

    @Test(arguments: [-300.0, 20, 300])
    func `the drift estimate is within 6 ppm despite jitter of 40 ms`(ppm: Double) {
        var tracker = DelayTracker(latencyProfile: .talk)
        var random = SeededRandom(seed: 9)
        _ = feed(&tracker, 0..<300, drift: ppm * 1e-6) { _ in
            0.020 * (random.unit() + random.unit())
        }
        #expect(abs(tracker.drift * 1e6 - ppm) < 6, "\(tracker.drift * 1e6)")
    }

    @Test func `a temporarily slower network is not taken for clock drift`() {
        var tracker = DelayTracker(latencyProfile: .talk)
        var worst = 0.0
        for n in 0..<100 {
            _ = feed(&tracker, Double(n)..<Double(n + 1)) { t in
                t < 60 ? 0 : max(0, min(0.1, (t - 60) / 20, (85 - t) / 20))
            }
            worst = max(worst, abs(tracker.drift))
        }
        #expect(worst <= 1e-3)
        #expect(abs(tracker.drift) < 20e-6, "\(tracker.drift * 1e6)")
    }
}
