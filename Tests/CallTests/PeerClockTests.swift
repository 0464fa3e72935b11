// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// The estimate of a peer's clock in whole calls on virtual time, between peers whose clocks differ.
@Suite(.optimized) struct PeerClockTests {
    private func call(seed: UInt64, _ change: (inout CallSimulation.Configuration) -> Void = { _ in }) throws
        -> CallSimulation
    {
        var random = SeededRandom(seed: seed)
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.network = .lan
        configuration.seed = seed
        for peer in 0..<2 {
            configuration.peers[peer].hostClock = PeerHostClock(
                offset: 1e6 * random.unit(), ppm: 100 * random.unit() - 50)
        }
        change(&configuration)
        return try CallSimulation(configuration)
    }

    /// The reading of a peer's estimate at present, and its error in seconds.
    private func outcome(_ call: CallSimulation, _ peer: Int = 0) -> (error: Double, clock: PeerClock, at: HostTime)? {
        let (own, other) = (call.peers[peer], call.peers[1 - peer])
        guard let reading = own.statistics.clock else { return nil }
        let local = own.hostClock.hostTime(at: call.now)
        #expect(local.seconds(since: reading.time) < 0.2)
        let truth = other.hostClock.hostTime(at: call.now)
        return (abs(reading.clock.peerTime(at: local).seconds(since: truth)), reading.clock, local)
    }

    struct Limit: CustomTestStringConvertible, Sendable {
        let network: NetworkProfile.Name
        let milliseconds: Double  // the 95th percentile of errors
        var testDescription: String { network.rawValue }
    }

    /// The errors of both peers of 50 calls.
    @Test(arguments: [
        Limit(network: .lan, milliseconds: 0.06), Limit(network: .wifiGood, milliseconds: 0.6),
        Limit(network: .wifiCongested, milliseconds: 1.8),
    ])
    func `a second after joining both peers know each other's clock`(limit: Limit) throws {
        var errors: [Double] = []
        var (likely, certain) = (0, 0)
        for seed in 1...50 as ClosedRange<UInt64> {
            var call = try call(seed: seed) { $0.network = NetworkProfile(limit.network) }
            try call.run(until: 1)
            for peer in 0..<2 {
                let found = try #require(outcome(call, peer))
                errors.append(found.error * 1e3)
                likely += found.error <= found.clock.symmetricUncertainty(at: found.at) ? 1 : 0
                certain += found.error <= found.clock.uncertainty(at: found.at) ? 1 : 0
            }
        }
        errors.sort()
        if ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil {
            let figures = [errors[50], errors[94], errors[99]].map { String(format: "%.3f", $0) }
            print(
                "call clock figure: | \(limit.network.rawValue) | \(figures.joined(separator: " | "))", terminator: "")
            print(" | \(likely) | \(certain) of \(errors.count) |")
        }
        #expect(errors[94] < limit.milliseconds, "\(errors[94]) ms")
        #expect(likely >= 90)
        #expect(certain == 100)
    }

    /// Paths that are longer one way, by 6 ms or by the queue of a busy Wi-Fi. Nobody can see that in packet times.
    @Test(arguments: [NetworkProfile(delay: .uniform(0.007...0.009)), .wifiCongested])
    func `the uncertainty holds on paths that differ`(out: NetworkProfile) throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            var call = try call(seed: seed)
            call.links[0][1].profile = out
            try call.run(until: 3)
            for peer in 0..<2 {
                let found = try #require(outcome(call, peer))
                #expect(found.error <= found.clock.uncertainty(at: found.at))
                #expect(found.error > found.clock.symmetricUncertainty(at: found.at))
            }
        }
    }

    @Test func `the rate of the peer's clock is found`() throws {
        var call = try call(seed: 3) {
            $0.peers[0].hostClock.ppm = -40
            $0.peers[1].hostClock.ppm = 30
        }
        try call.run(until: 10)
        let reading = try #require(call.peers[0].statistics.clock)
        #expect(abs(reading.partsPerMillion - 70) < 3, "\(reading.partsPerMillion)")
    }

    /// Both peers move to a slower network, and back.
    @Test func `after a change of the path the uncertainty grows before the estimate is new`() throws {
        var call = try call(seed: 4)
        try call.run(until: 5)
        let before = try #require(outcome(call))
        var last = before.clock.symmetricUncertainty(at: before.at)
        let claim = last
        call.network = .wifiGood
        for peer in 0..<2 { call.peers[peer].core.pathChanged(to: PeerID(1 - peer)) }
        for tenth in 1...10 {
            try call.run(until: 5 + Double(tenth) / 10)
            let during = try #require(outcome(call))
            let present = during.clock.symmetricUncertainty(at: during.at)
            #expect(present > last || tenth > 2, "\(present) after \(last)")
            #expect(during.error <= present, "\(during.error), \(present)")
            last = present
        }
        #expect(last > 2 * claim, "\(last) after \(claim)")
        call.network = .lan
        for peer in 0..<2 { call.peers[peer].core.pathChanged(to: PeerID(1 - peer)) }
        try call.run(until: 7.5)
        #expect(try #require(outcome(call)).error < 0.06e-3)
    }

    /// The peer sleeps for 5 s, and its clock stands still meanwhile.
    @Test func `after the peer's sleep both sides know the time again within a second`() throws {
        let asleep = 3.0..<8.0
        var call = try call(seed: 5) {
            let start = HostTime(nanoseconds: 5_000_000_000)  // of the call
            $0.peers[1].hostClock.sleep =
                start.advanced(bySeconds: asleep.lowerBound)..<start.advanced(bySeconds: asleep.upperBound)
        }
        call.datagramFilter = { datagram, _, _, elapsed in asleep.contains(elapsed) ? [] : [datagram] }
        call.events = [(at: asleep.upperBound, action: { $0.peers[1].core.slept() })]
        try call.run(until: 2.9)
        #expect(try #require(outcome(call, 1)).error < 0.1e-3)
        try call.run(until: 8.05)
        #expect(call.peers[1].statistics.clock == nil)
        var count = 0
        for tenth in 1...10 {
            try call.run(until: 8.2 + Double(tenth) / 10)
            for found in (0..<2).compactMap({ outcome(call, $0) }) {
                #expect(found.error <= found.clock.uncertainty(at: found.at), "\(tenth): \(found.error)")
                count += 1
            }
        }
        #expect(count >= 12)
        for peer in 0..<2 { #expect(try #require(outcome(call, peer)).error < 0.1e-3) }
    }

    @Test func `a transport that was closed forgets the estimate, since the peer may have slept`() throws {
        var call = try call(seed: 5)
        try call.run(until: 3)
        #expect(call.peers[0].statistics.clock != nil)
        call.peers[0].core.setOpen(false, to: PeerID(1))
        #expect(call.peers[0].statistics.clock != nil)
        call.peers[0].core.setOpen(true, to: PeerID(1))
        #expect(call.peers[0].statistics.clock == nil)
    }

    @Test func `on a slow link nothing has send times, and the estimate ages`() throws {
        var call = try call(seed: 9) { $0.changesRate = true }
        try call.run(until: 3)
        let before = try #require(outcome(call))
        var slow = NetworkProfile(delay: .constant(0.002))
        slow.capacity = LinkCapacity(bitsPerSecond: 200_000)
        call.network = slow
        try call.run(until: 5)
        let sendTimes = call.traffic.sendTimeBytes
        try call.run(until: 7)
        #expect(call.traffic.sendTimeBytes == sendTimes)
        let after = try #require(outcome(call))
        #expect(after.clock.uncertainty(at: after.at) > before.clock.uncertainty(at: before.at))
        #expect(after.error <= after.clock.uncertainty(at: after.at))
    }

    @Test func `a measured round trip is the floor of the uncertainty`() throws {
        var call = try call(seed: 6)
        call.peers[0].core.measured(roundTrip: 0.05, to: PeerID(1))
        try call.run(until: 3)
        #expect(try #require(call.peers[0].statistics.clock).uncertainty >= 0.025)
        #expect(try #require(call.peers[1].statistics.clock).uncertainty < 0.025)
    }

    @Test func `a renegotiation keeps the estimate`() throws {
        var call = try call(seed: 7)
        try call.run(until: 3)
        try call.renegotiate(0, 1)
        #expect(call.peers[0].statistics.clock != nil)
        try call.run(until: 5)
        #expect(try #require(outcome(call)).error < 0.06e-3)
    }

    @Test func `a peer without send times has no estimate, and the call goes on`() throws {
        var call = try call(seed: 8)
        var configuration = call.peers[0].configuration
        #expect(configuration.sendTimeID == 1)
        configuration.sendTimeID = nil
        try call.renegotiate(0, 1, configuration)
        try call.run(until: 3)
        for peer in call.peers {
            #expect(peer.statistics.clock == nil)
            #expect(peer.playout.statistics.isStarted && peer.statistics.rtp.packetsMissing == 0)
            #expect(peer.statistics.rtp.packetsIgnored == 0)
        }
    }

    @Test func `reports beyond the limit are ignored`() {
        var meter = ClockMeter()
        let good = { (n: Int) in
            let sent = HostTime(nanoseconds: Int64(n) * 100_000_000).wireMicroseconds
            let pair = TimeReport.Pair(sent: sent, arrived: Int64(n) * 100_000_000 + 7_001_000_000)
            return TimeReport(fastest: pair, typical: pair)
        }
        func receive(_ n: Int, _ report: TimeReport?) {
            let now = HostTime(nanoseconds: Int64(n) * 100_000_000)
            let sent = HostTime(nanoseconds: now.nanoseconds + 6_999_000_000)
            meter.addPacket(sent: sent.wireMicroseconds, arrived: now)
            if let report { meter.addReport(report, at: HostTime(nanoseconds: now.nanoseconds + 50_000_000)) }
            _ = meter.takeReport(at: HostTime(nanoseconds: now.nanoseconds + 60_000_000))
        }
        for n in 1...50 { receive(n, good(n)) }
        #expect(meter.reading != nil)
        let now = HostTime(nanoseconds: 5_050_000_000)
        for _ in 0..<100 { meter.addReport(good(50), at: now) }
        let before = meter.reading?.clock
        var wrong = good(50)
        wrong.fastest.arrived += 1_000_000_000
        wrong.typical.arrived += 1_000_000_000
        for _ in 0..<100 { meter.addReport(wrong, at: now) }
        #expect(meter.reading?.clock == before)
    }
}

/// The negotiation of send times between calls.
@Suite struct PeerClockNegotiationTests {
    private func negotiated(adjust: @escaping (inout SessionDescription) -> Void = { _ in }) throws -> [UInt8?] {
        let preferences = CallPreferences(deviceRate: 48_000, deviceBlock: 128)
        let both = try CallSimulation.negotiate(host: preferences, guest: preferences, adjust: adjust)
        return [both.host.sendTimeID, both.guest.sendTimeID]
    }

    @Test func `native peers negotiate send times`() throws { #expect(try negotiated() == [1, 1]) }

    @Test func `an older peer gets none, whichever side it is`() throws {
        for old in [1, 2] as [UInt64] {  // the guest's description, and the host's
            #expect(try negotiated { if $0.origin.sessionID == old { $0.sendTimeID = nil } } == [nil, nil])
        }
    }
}
