// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotPlayout

/// Delay that is corrected by leaving out or repeating stretches.
@Suite struct PlayoutStretchTests {
    @Test func `dissimilar joints are accepted only while the delay is far from its target`() throws {
        var random = SeededRandom(seed: 9)
        let noise = (0..<480_000).map { _ in Float(random.unit() - 0.5) }
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .talk), seconds: 40)
        rig.says = { noise[$0 % noise.count] }
        rig.keepsOutput = false
        // Every 25th packet is 30 ms late, so that `talk` waits for them and `sing` does not.
        rig.delay = { sequence, _ in sequence % 25 == 0 ? 0.031 : 0.001 }
        rig.before = { playout, now in
            if now >= 20, playout.latencyProfile == .talk { playout.latencyProfile = .sing }
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

    @Test func `a delay that is too short is lengthened by whole periods`() throws {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .sing), seconds: 11)
        rig.says = { voice($0) }
        // Every 0.53 s a packet is 30 ms late, for which `sing` does not wait and `listen` does.
        rig.delay = { sequence, _ in sequence % 200 == 0 ? 0.031 : 0.001 }
        rig.before = { playout, now in
            if now >= 10.25, playout.latencyProfile == .sing { playout.latencyProfile = .listen }
        }
        let result = try rig.run()
        let before = try #require(result.history.last { $0.time < 10.25 }?.statistics)
        // The next late packet is sent at 10.67 s. Speed alone gains 2 ms until then.
        let after = try #require(result.history.last { $0.time < 10.6 }?.statistics)
        #expect(before.depth < 0.001, "\(ms(before.depth))")
        #expect(after.depth > 0.020, "\(ms(after.depth))")
        #expect(after.stretchedFrames - before.stretchedFrames > 960)
        #expect(after.skips == before.skips && after.concealedFrames == before.concealedFrames)
        #expect(after.insertedFrames == before.insertedFrames)
        let stretched = result.output[Int(10.25 * 48_000)..<Int(10.6 * 48_000)]
        #expect(steepest(stretched) < 1.2 * steepest(result.output[(8 * 48_000)..<(10 * 48_000)]))
    }
}
