// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// The estimate of a peer's clock in whole calls on virtual time, between peers whose clocks differ.
@Suite struct PeerClockTests {
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

    @Test func `a second after joining both peers know each other's clock`() throws {
        var errors: [Double] = []
        var withinCount = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            var call = try call(seed: seed)
            try call.run(until: 1.05)
            for peer in 0..<2 {
                let found = try #require(outcome(call, peer))
                errors.append(found.error)
                withinCount += found.error <= found.clock.symmetricUncertainty(at: found.at) ? 1 : 0
                #expect(found.error <= found.clock.uncertainty(at: found.at))
            }
        }
        errors.sort()
        print("peer clock on lan after 1 s: p95 \(errors[37] * 1e3) ms of 40, \(withinCount) within the claim")
        #expect(errors[37] < 0.06e-3)
        #expect(withinCount >= 36)
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

    @Test func `after sleep there is no estimate until there is a new one`() throws {
        var call = try call(seed: 5)
        try call.run(until: 3)
        #expect(call.peers[0].statistics.clock != nil)
        call.peers[0].core.slept()
        #expect(call.peers[0].statistics.clock == nil)
        try call.run(until: 4.5)
        #expect(try #require(outcome(call)).error < 0.1e-3)
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
            return TimeReport(fastest: pair, prompt: pair)
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
        wrong.prompt.arrived += 1_000_000_000
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
