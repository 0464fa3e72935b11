// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotSimulation

/// Tests that datagrams meet the network that a profile declares.
@Suite(.optimized) struct SimulatedLinkTests {
    private static let count = 200_000

    /// Returns the seconds that each packet took, nil for lost ones, with a packet every `interval` seconds.
    private func times(
        _ profile: NetworkProfile, count: Int = count, interval: Double = 0.02, size: Int = 172, seed: UInt64 = 1
    ) -> [Double?] {
        var link = SimulatedLink(profile, seed: seed)
        return (0..<count).map { n in
            let now = Int64(Double(n) * interval * 1e9)
            return link.send(byteCount: size, isMedia: true, at: now).arrival.map { Double($0 - now) * 1e-9 }
        }
    }

    private func share(_ times: [Double?]) -> Double {
        Double(times.reduce(0) { $0 + ($1 == nil ? 1 : 0) }) / Double(times.count)
    }

    /// Returns the lengths of the runs of lost packets.
    private func bursts(_ times: [Double?]) -> [Int] {
        times.split { $0 != nil }.map(\.count)
    }

    private func quantile(_ times: [Double?], _ share: Double) -> Double {
        let sorted = times.compactMap(\.self).sorted()
        return sorted[Int(share * Double(sorted.count - 1))]
    }

    @Test func `a wired network has delays evenly spread from 1 to 3 ms and no loss`() {
        let times = times(.lan)
        #expect(share(times) == 0)
        for (part, value) in [(0.0, 0.001), (0.25, 0.0015), (0.5, 0.002), (0.9, 0.0028), (1, 0.003)] {
            #expect(abs(quantile(times, part) - value) < 2e-5, "\(part)")
        }
    }

    @Test func `good Wi-Fi delays are normally distributed, cut at three deviations`() {
        let times = times(.wifiGood)
        #expect(abs(share(times) - 0.002) < 0.0004)
        for (part, value) in [(0.5, 0.040), (0.1587, 0.035), (0.8413, 0.045), (0.9772, 0.0499)] {
            #expect(abs(quantile(times, part) - value) < 2e-4, "\(part): \(quantile(times, part))")
        }
        #expect(quantile(times, 0) >= 0.025 && quantile(times, 1) <= 0.0551)
    }

    @Test func `congested Wi-Fi adds gamma delays to 20 ms, with loss bursts, reordering and stalls`() {
        var profile = NetworkProfile.wifiCongested
        profile.stalls = nil
        profile.reordering = 0
        let times = times(profile)
        // Erlang of shape 2: half are below 1.678 scales, nine tenths below 3.890.
        #expect(abs(quantile(times, 0.5) - (0.020 + 1.678 * 0.006)) < 3e-4, "\(quantile(times, 0.5))")
        #expect(abs(quantile(times, 0.9) - (0.020 + 3.86 * 0.006)) < 6e-4, "\(quantile(times, 0.9))")
        #expect(quantile(times, 0) >= 0.020 && quantile(times, 1) <= 0.061)
        #expect(abs(share(times) - 0.03) < 0.003)
        let lengths = bursts(times)
        #expect(abs(Double(lengths.reduce(0, +)) / Double(lengths.count) - 2.5) < 0.15)

        profile.loss = .none
        profile.reordering = 0.02
        let reordered = self.times(profile)
        var arrivals: [Double] = []
        for (n, time) in reordered.enumerated() { arrivals.append(Double(n) * 0.02 + (time ?? 0)) }
        let overtaken = zip(arrivals, arrivals.dropFirst()).reduce(0) { $0 + ($1.0 > $1.1 ? 1 : 0) }
        #expect(overtaken > Self.count / 100 && overtaken <= Self.count / 49, "\(overtaken)")
    }

    @Test func `packets sent during a stall arrive at its end, in order`() {
        var profile = NetworkProfile(delay: .constant(0.010), stalls: RepeatedStall(period: 5, length: 0.150))
        let times = times(profile, count: 4_000, interval: 0.005)
        for (n, time) in times.enumerated() {
            let at = Double(n) * 0.005
            let phase = at < 5 ? 1 : at.truncatingRemainder(dividingBy: 5)
            let expected = 0.010 + max(0, 0.150 - phase)
            #expect(abs((time ?? 0) - expected) < 1e-6, "\(at) s: \(time as Any)")
        }
        profile.stalls = nil
        profile.events = [.stall(1..<1.4), .outage(2..<2.5)]
        let events = self.times(profile, count: 1_000, interval: 0.005)
        #expect(abs((events[200] ?? 0) - 0.410) < 1e-6 && abs((events[280] ?? 0) - 0.010) < 1e-6)
        #expect((0..<1_000).allSatisfy { (events[$0] == nil) == (400..<500).contains($0) })
    }

    @Test func `NetEQ's bursts are 30 ms outages for a tenth of the time, at any packet length`() {
        for interval in [0.0025, 0.020] {
            let times = times(.netEQBurst, interval: interval)
            #expect(abs(share(times) - 0.10) < 0.012, "\(share(times))")
            let lengths = bursts(times).sorted()
            let usual = lengths[lengths.count / 2]
            #expect((Int(0.030 / interval)...Int((0.030 / interval).rounded(.up))).contains(usual))
        }
    }

    @Test(arguments: [0.02, 0.05, 0.10]) func `independent losses have geometric run lengths`(loss: Double) {
        let times = times(.independent(loss))
        #expect(abs(share(times) - loss) < 0.002)
        let lengths = bursts(times)
        // Geometric, with the mean 1 / (1 − p).
        #expect(abs(Double(lengths.reduce(0, +)) / Double(lengths.count) - 1 / (1 - loss)) < 0.01)
        #expect(times.compactMap(\.self).allSatisfy { abs($0 - 0.020) < 1e-9 })
    }

    @Test func `equal seeds give equal losses, different seeds different ones`() {
        let profile = NetworkProfile.independent(0.05)
        #expect(times(profile, count: 1_000, seed: 3) == times(profile, count: 1_000, seed: 3))
        #expect(times(profile, count: 1_000, seed: 3) != times(profile, count: 1_000, seed: 4))
        let link = SimulatedLink(profile, seed: 9)
        var (a, b) = (link.reseeded(3), SimulatedLink(profile, seed: 3))
        for n in 0..<1_000 {
            let now = Int64(n) * 20_000_000
            #expect(
                a.send(byteCount: 9, isMedia: true, at: now).arrival
                    == b.send(byteCount: 9, isMedia: true, at: now).arrival)
        }
    }

    @Test func `a duplicated packet is followed by its copy`() {
        var profile = NetworkProfile()
        profile.duplication = 0.25
        var link = SimulatedLink(profile, seed: 1)
        var copies = 0
        for n in 0..<10_000 {
            let fate = link.send(byteCount: 100, isMedia: n % 2 == 0, at: Int64(n) * 1_000_000)
            if let copy = fate.copy, let first = fate.arrival {
                copies += 1
                #expect(copy - first == 300_000)
            }
        }
        #expect(abs(copies - 2_500) < 150)
        #expect(link.counts.media == 5_000 && abs(link.counts.duplicatedMedia - 1_250) < 110)
        #expect(link.counts.bytes == 1_000_000 && link.counts.mediaBytes == 500_000)
    }

    @Test func `a trace is followed packet by packet and repeats`() throws {
        var profile = NetworkProfile()
        profile.trace = try NetworkTrace("10\nlost\n5.5\n".utf8)
        var link = SimulatedLink(profile, seed: 1)
        var took: [Int64?] = []
        for n in 0..<7 {
            let now = Int64(n) * 2_000_000
            took.append(link.send(byteCount: 100, isMedia: true, at: now).arrival.map { $0 - now })
            // A report uses no line: it has the delay of the last line with a delay.
            let report = link.send(byteCount: 100, isMedia: false, at: now).arrival.map { $0 - now }
            #expect(report == (n % 3 == 2 ? 5_500_000 : 10_000_000))
        }
        #expect(took == [10_000_000, nil, 5_500_000, 10_000_000, nil, 5_500_000, 10_000_000])
        #expect(link.counts.media == 7 && link.counts.lostMedia == 2)
    }
}
