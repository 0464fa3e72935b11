// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// An hour for each; `EARSHOT_DRIFT_HOURS=24` makes it a day.
@Suite(.optimized) struct PlayoutDriftTests {
    static let hours = ProcessInfo.processInfo.environment["EARSHOT_DRIFT_HOURS"].flatMap(Double.init) ?? 1

    @Test(arguments: [-300.0, 300], [false, true])
    func `the delay stays at its target at any clock drift`(ppm: Double, hasJitter: Bool) throws {
        var rig = PlayoutRig(configuration: .pcm(frames: 480), block: 480, seconds: 3_600 * Self.hours, senderPPM: ppm)
        rig.says = tabled()
        rig.keepsOutput = false
        rig.historyInterval = 0.5
        if hasJitter { rig.delay = NetworkProfile.lan.delays(seed: 8) }
        let r = try rig.run()
        let settled = r.history.filter { $0.time > 30 }.map(\.statistics)
        let off = settled.map { abs($0.depth - $0.targetDepth) }.max() ?? 1
        let late = r.since(30, \.latePackets)
        // The pitch error is the error of the estimate plus the correction of the delay: the excess over two seconds.
        let pitch = settled.map { abs($0.driftPPM - ppm) + abs($0.depth - $0.targetDepth) / 2 * 1e6 }.max() ?? 1e6
        if printsFigures {
            func short(_ value: Double) -> String { "\((value * 1e3).rounded() / 1e3)" }
            print(
                "drift figure: \(short(Self.hours)) h at \(short(ppm)) ppm, \(hasJitter ? "1 to 3 ms of jitter" : "no jitter"):",
                "after 30 s \(short(off * 1e3)) ms off at most, pitch off by \(short(pitch / 577.8)) cents at most,",
                "\(late) of \(r.statistics.packets) packets late, \(r.since(30, \.missingPackets)) missing,",
                "\(r.since(30, \.skips)) skips; \(short(r.statistics.driftPPM)) ppm found")
        }
        #expect(off < 0.0005, "\(off * 1e3) ms")
        #expect(r.since(30, \.skips) == 0 && r.since(30, \.stretchedFrames) == 0)
        #expect(Double(late) <= (hasJitter ? 0.004 * Double(r.statistics.packets) : 0))
        #expect(hasJitter || r.since(30, \.missingPackets) == 0)  // no underrun, and nothing that a full queue refused
        // A cent is 578 ppm. The difference of the clocks is inaudible, since each listener hears by their own clock.
        #expect(pitch < 577.8)
        #expect((settled.map { abs($0.driftPPM - ppm) }.max() ?? 1e6) < 100)
        #expect(abs(r.statistics.driftPPM - ppm) < 2)
    }

    @Test func `a device replaced by one with another clock rate is followed`() throws {
        var rig = PlayoutRig(configuration: .pcm(frames: 480), block: 480, seconds: 400)
        rig.says = tabled()
        // From 200 s on packets arrive 250 ppm faster than before.
        rig.delay = { _, sent in 0.200 - max(0, sent - 200) * 250e-6 }
        let r = try rig.run()
        #expect(abs(r.statistics.driftPPM - 250) < 10, "\(r.statistics.driftPPM)")
        #expect(r.statistics.missingPackets == 0)
        let settled = r.history.filter { $0.time > 260 }.map(\.statistics)
        #expect((settled.map { abs($0.depth - $0.targetDepth) }.max() ?? 1) < 0.0005)
    }
}
