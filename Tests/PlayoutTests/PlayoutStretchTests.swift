import Testing
import TestSupport

@testable import Playout

/// Delay that is no longer needed, in sound of which no stretch is like another.
@Suite struct PlayoutStretchTests {
    @Test func `any joint will do only while the delay is far off`() throws {
        var random = SeededRandom(seed: 9)
        let noise = (0..<480_000).map { _ in Float(random.unit() - 0.5) }
        var rig = PlayoutRig(configuration: .pcm(dial: .talk), seconds: 40)
        rig.says = { noise[$0 % noise.count] }
        rig.keepsOutput = false
        // Every 25th packet is late by 30 ms, so that talk waits for them and sing does not.
        rig.delay = { sequence, _ in sequence % 25 == 0 ? 0.031 : 0.001 }
        rig.before = { playout, now in
            if now >= 20, playout.dial == .talk { playout.dial = .sing }
        }
        let r = try rig.run()
        func excess(_ statistics: PlayoutStatistics) -> Double { statistics.depth - statistics.targetDepth }
        let turned = try #require(r.history.last { $0.time < 20 }?.statistics)
        #expect(turned.depth > 0.029, "\(ms(turned.depth))")
        let isClose = try #require(r.history.first { $0.time > 20.1 && excess($0.statistics) < 0.0095 })
        #expect(isClose.statistics.stretchedFrames - turned.stretchedFrames > 480)
        #expect(excess(isClose.statistics) > 0.0042, "more than a stretch begins with")
        #expect(excess(r.statistics) < 0.001)
        #expect(r.statistics.stretchedFrames == isClose.statistics.stretchedFrames)
    }
}
