// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotSimulation
import Testing

@testable import EarshotClockSync

/// Wraps, damaged and hostile input.
@Suite struct ClockSyncInputTests {
    /// Runs both hosts' clocks over the wrap of their 32-bit times, 2 s after the start.
    @Test func `send times that wrap leave the estimate as it is`() throws {
        let wrap: Int64 = (1 << 32) * 1_000
        for (ours, theirs) in [(wrap, 5 * wrap / 2), (3 * wrap / 2, wrap), (wrap, 7 * wrap)] {
            var rig = ClockRig(.lan, seed: 1)
            rig.clock.start = ours - rig.now - 2_000_000_000
            rig.peerClock.start = theirs - rig.now - 2_000_000_000
            for second in 1...6 {
                rig.run(until: Double(second))
                let outcome = try #require(rig.outcome)
                #expect(outcome.error < 0.000_1, "\(outcome.error) after \(second) s")
            }
        }
    }

    @Test func `a restart for another address keeps the offset, one after sleep forgets it`() throws {
        var rig = ClockRig(.wifiGood, seed: 2)
        rig.run(until: 10)
        let before = try #require(rig.sync.peerClock)
        rig.sync.restart(keepingOffset: true)
        let kept = try #require(rig.sync.peerClock)
        #expect(kept.peerTime(at: rig.clock.time(at: rig.now)) == before.peerTime(at: rig.clock.time(at: rig.now)))
        rig.run(until: 11.5)
        #expect(try #require(rig.outcome).error < 0.002)
        rig.sync.restart(keepingOffset: false)
        #expect(rig.sync.peerClock == nil)
        rig.run(until: 13)
        #expect(try #require(rig.outcome).error < 0.002)
    }

    /// A peer that claims to have held our packets for longer than it did makes the round trip look shorter.
    @Test func `a lie about the round trip does not make the uncertainty smaller than half the measured one`() throws {
        var rig = ClockRig(.wifiGood, seed: 3)
        rig.forge = { report in
            var lie = report
            lie.fastest.arrived = report.fastest.arrived.advanced(bySeconds: -0.060)
            lie.typical.arrived = report.typical.arrived.advanced(bySeconds: -0.060)
            return lie
        }
        rig.sync.addRoundTrip(0.085)
        rig.sync.addRoundTrip(0.070)
        rig.sync.addRoundTrip(.nan)
        rig.sync.addRoundTrip(-1)
        rig.run(until: 3)
        #expect(try #require(rig.outcome).bound >= 0.035)
    }

    @Test func `reports of packets that returned before they were sent give no estimate`() {
        var rig = ClockRig(.lan, seed: 4)
        rig.forge = { report in
            var lie = report
            lie.fastest.arrived = report.fastest.arrived.advanced(bySeconds: -1)
            lie.typical.arrived = report.typical.arrived.advanced(bySeconds: -1)
            return lie
        }
        for tenth in 1...50 {
            rig.run(until: Double(tenth) / 10)
            #expect(rig.sync.peerClock == nil)
        }
    }

    @Test func `a report with impossible times is ignored`() throws {
        var rig = ClockRig(.lan, seed: 5)
        rig.run(until: 5)
        let now = rig.clock.time(at: rig.now)
        let before = rig.sync.peerClock
        let sent = now.advanced(bySeconds: -0.1).wireMicroseconds
        let time = PacketTime(sent: sent, arrived: try #require(before).peerTime(at: now))
        var future = time
        future.sent = now.advanced(bySeconds: 1).wireMicroseconds
        var old = time
        old.sent = now.advanced(bySeconds: -20).wireMicroseconds
        var early = time
        early.arrived = time.arrived.advanced(bySeconds: -0.001)
        for (fastest, typical) in [(future, time), (old, time), (time, future), (time, old), (time, early)] {
            for _ in 0..<100 { rig.sync.addReport(ClockReport(fastest: fastest, typical: typical), at: now) }
            #expect(rig.sync.peerClock == before)
        }
    }

    @Test func `a peer that reports no transit times gets an estimate by the mean`() throws {
        var rig = ClockRig(.wifiGood, seed: 9)
        rig.forge = { ClockReport(fastest: $0.fastest, typical: $0.typical) }
        rig.run(until: 10)
        #expect(try #require(rig.sync.fit).ranks == nil)
        let outcome = try #require(rig.outcome)
        #expect(outcome.error < 0.000_5 && outcome.error < outcome.claim)
    }

    /// Random values, among them extreme ones, in all places.
    @Test func `any input leaves values that can be used`() {
        var random = SeededRandom(seed: 6)
        var estimateCount = 0
        func time(_ near: Int64) -> HostTime {
            switch random.next() % 64 {
            case 0: HostTime(nanoseconds: Int64(bitPattern: random.next()))
            case 1: HostTime(nanoseconds: .max)
            case 2: HostTime(nanoseconds: .min)
            case 3: HostTime(nanoseconds: near &+ Int64(random.next() % 2_000_000_000))
            default: HostTime(nanoseconds: near &+ Int64(random.next() % 10_000_000))
            }
        }
        for _ in 0..<200 {
            var sync = ClockSync()
            var now: Int64 = 1_000_000_000
            for _ in 0..<200 {
                now &+= Int64(random.next() % 60_000_000)
                let local = random.next() % 200 == 0 ? time(now) : HostTime(nanoseconds: now)
                let ahead: Int64 = 5_000_000_000
                sync.addPacket(sent: time(now &+ ahead &- 20_000_000).wireMicroseconds, arrived: local)
                _ = sync.takeReport(at: local)
                let fastest = PacketTime(sent: time(now &- 20_000_000).wireMicroseconds, arrived: time(now &+ ahead))
                var typical = fastest
                if random.next() % 4 == 0 { typical.arrived = time(now &+ ahead &+ 10_000_000) }
                let transits = (0..<random.next() % 120).map { _ in
                    ReportedTransit(bits: UInt16(truncatingIfNeeded: random.next() >> (random.next() % 16)))
                }
                sync.addReport(ClockReport(fastest: fastest, typical: typical, transits: transits), at: local)
                if let clock = sync.peerClock {
                    estimateCount += 1
                    let at = time(now)
                    _ = clock.localTime(at: clock.peerTime(at: at))
                    #expect(abs(clock.rate) < 0.01)
                    #expect(clock.uncertainty(at: at) > 0)
                    #expect(clock.symmetricUncertainty(at: at) > 0)
                }
            }
        }
        #expect(estimateCount > 100)
    }

    @Test func `without packets the uncertainty grows`() throws {
        var rig = ClockRig(.lan, seed: 7)
        rig.run(until: 20)
        let clock = try #require(rig.sync.peerClock)
        let now = rig.clock.time(at: rig.now)
        var last = clock.symmetricUncertainty(at: now)
        for seconds in [1.0, 10, 60, 600] {
            let next = clock.symmetricUncertainty(at: now.advanced(bySeconds: seconds))
            #expect(next > last)
            last = next
        }
        #expect(last > 0.001)
        #expect(last < 0.010)
    }

    @Test func `times are converted in both directions`() throws {
        var rig = ClockRig(.lan, seed: 8, ppm: 100)
        rig.run(until: 10)
        let clock = try #require(rig.sync.peerClock)
        #expect(abs(clock.rate - 100e-6) < 5e-6)
        let now = rig.clock.time(at: rig.now)
        for seconds in [-100.0, 0, 0.5, 1_000] {
            let local = now.advanced(bySeconds: seconds)
            let back = clock.localTime(at: clock.peerTime(at: local))
            #expect(abs(back.nanoseconds - local.nanoseconds) <= 1)
            let ahead = clock.peerTime(at: local).seconds(since: clock.peerTime(at: now)) - seconds
            #expect(abs(ahead - seconds * clock.rate) < 1e-8)
        }
    }
}
