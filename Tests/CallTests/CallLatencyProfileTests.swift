// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// The delay setting of a running call, on virtual time.
@Suite(.optimized) struct CallLatencyProfileTests {
    /// At least 5 ms, 6 ms more on average, 100 ms at most.
    private static func jitter(seed: UInt64) -> (Int, Int) -> Double {
        var random = SeededRandom(seed: seed)
        let delays = (0..<40_000).map { _ in
            0.005 + min(0.095, 0.003 * (-log(1 - random.unit()) - log(1 - random.unit())))
        }
        return { end, number in end == 0 ? delays[number % delays.count] : 0.005 }
    }

    private func call(_ profiles: [(at: Double, profile: LatencyProfile)], until end: Double) throws -> Run {
        let call = try VirtualCall { $0.latencyProfile = .sing }
        call.a.says = { frame in sine(frame, frequency: 300, rate: 48_000, amplitude: 0.1) }
        call.delay = Self.jitter(seed: 3)
        var run = Run(call: call)
        var next = 0
        try call.run(until: end) { now in
            if next < profiles.count, now >= profiles[next].at {
                call.b.session.latencyProfile = profiles[next].profile
                next += 1
            }
            run.history.append((now, try #require(call.b.session.statistics(of: call.a.id))))
        }
        return run
    }

    private struct Run {
        let call: VirtualCall
        var history: [(time: Double, statistics: CallStatistics)] = []

        func at(_ time: Double) throws -> CallStatistics {
            try #require(history.last { $0.time <= time }).statistics
        }
        func glitches(_ times: Range<Double>) throws -> Int {
            try at(times.upperBound).playout.glitches - at(times.lowerBound).playout.glitches
        }
    }

    @Test func `a new latency profile during a call moves the delay within two seconds, without a gap`()
        throws
    {
        let turned = try call([(30, .listen), (45, .sing)], until: 60)
        let plain = try call([], until: 60)
        let (before, deep, after) = (try turned.at(29.9), try turned.at(32), try turned.at(47))
        #expect(before.configuration.latencyProfile == .sing && deep.configuration.latencyProfile == .listen)
        #expect(after.configuration.latencyProfile == .sing && turned.call.b.session.latencyProfile == .sing)
        #expect(deep.playout.targetDepth > before.playout.targetDepth + 0.008, "\(deep.playout.targetDepth)")
        #expect(deep.playout.depthLimit > 0.1 && before.playout.depthLimit < 0.03 && after.playout.depthLimit < 0.03)
        for statistics in [before, deep, after] {
            let playout = statistics.playout
            #expect(abs(playout.depth - playout.targetDepth) < 0.006, "\(playout.depth) for \(playout.targetDepth)")
        }
        // The network is the same in both calls: a longer delay has fewer gaps, and changing to it adds none.
        #expect(try turned.glitches(1..<29.9) == plain.glitches(1..<29.9))
        #expect(try turned.glitches(30..<45) < plain.glitches(30..<45) / 4)
        #expect(try turned.glitches(45..<47) <= plain.glitches(45..<47) + 1)
        #expect(deep.playout.skips == before.playout.skips && after.playout.restarts == 0)
        // The negotiation was not repeated, and packets continued.
        #expect(after.media.rtp.packetsMissing == 0 && after.playout.packets > 17_000)
        let usual = steepest(turned.call.b.heard(20..<29.9))
        for times in [30.0..<32, 45..<47] { #expect(steepest(turned.call.b.heard(times)) < 1.3 * usual) }
    }

    @Test func `a remote peer that joins later or renegotiates uses the current latency profile`() throws {
        let call = try VirtualCall { $0.latencyProfile = .sing }
        #expect(call.b.session.latencyProfile == .sing && call.b.session.preferences.latencyProfile == .sing)
        call.delay = Self.jitter(seed: 5)
        call.run(until: 5)
        call.b.session.latencyProfile = .listen
        call.run(until: 8)
        let deep = try #require(call.b.session.statistics(of: call.a.id))
        // The same configuration again disturbs nothing: playout continues.
        try call.describe()
        call.run(until: 8.01)
        let again = try #require(call.b.session.statistics(of: call.a.id))
        #expect(abs(again.playout.depth - deep.playout.depth) < 0.003 && again.playout.packets > deep.playout.packets)
        call.b.session.end(call.a.id)
        #expect(call.b.session.statistics(of: call.a.id) == nil && call.b.session.latencyProfile == .listen)
        try call.describe()
        call.run(until: 10)
        let new = try #require(call.b.session.statistics(of: call.a.id))
        #expect(
            new.configuration.latencyProfile == .listen && new.playout.depthLimit > 0.1, "\(new.playout.depthLimit)")
        #expect(new.playout.isStarted && new.playout.packets < deep.playout.packets)
    }
}
