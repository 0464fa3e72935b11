import Foundation
import Testing
import TestSupport

@testable import Playout

/// An hour for each; `EARSHOT_DRIFT_HOURS=24` makes it a day.
@Suite struct PlayoutDriftTests {
    static let hours = ProcessInfo.processInfo.environment["EARSHOT_DRIFT_HOURS"].flatMap(Double.init) ?? 1

    @Test(arguments: [-300.0, 300], [false, true])
    func `the delay stays where it should be, however the clocks drift`(ppm: Double, hasJitter: Bool) throws {
        var rig = PlayoutRig(configuration: .pcm(frames: 480), block: 480, seconds: 3_600 * Self.hours, senderPPM: ppm)
        rig.says = tabled()
        rig.keepsOutput = false
        rig.historyInterval = 0.5
        if hasJitter { rig.delay = NetworkProfile.lan.delays(seed: 8) }
        let r = try rig.run()
        let settled = r.history.filter { $0.time > 30 }.map(\.statistics)
        let off = settled.map { abs($0.depth - $0.targetDepth) }.max() ?? 1
        let late = r.since(30, \.latePackets)
        if printsFigures {
            print(
                "drift \(ppm) ppm, jitter \(hasJitter): off by \(off * 1e3) ms at most, \(late) late,",
                "estimate \(r.statistics.driftPPM) ppm, depth \(r.statistics.depth * 1e3) ms")
        }
        #expect(off < 0.0005, "\(off * 1e3) ms")
        #expect(r.since(30, \.skips) == 0 && r.since(30, \.stretchedFrames) == 0)
        #expect(Double(late) <= (hasJitter ? 0.004 * Double(r.statistics.packets) : 0))
        // A cent is 578 ppm; the clocks' own difference is not heard, as each ear goes by its own.
        #expect((settled.map { abs($0.driftPPM - ppm) }.max() ?? 1e6) < 100)
        #expect(abs(r.statistics.driftPPM - ppm) < 2)
    }

    @Test func `a card that is exchanged for one of another rate is followed`() throws {
        var rig = PlayoutRig(configuration: .pcm(frames: 480), block: 480, seconds: 400)
        rig.says = tabled()
        // From 200 s on packets come 250 ppm faster than before.
        rig.delay = { _, sent in 0.200 - max(0, sent - 200) * 250e-6 }
        let r = try rig.run()
        #expect(abs(r.statistics.driftPPM - 250) < 10, "\(r.statistics.driftPPM)")
        #expect(r.statistics.missingPackets == 0)
        let settled = r.history.filter { $0.time > 260 }.map(\.statistics)
        #expect((settled.map { abs($0.depth - $0.targetDepth) }.max() ?? 1) < 0.0005)
    }
}
