// SPDX-License-Identifier: Apache-2.0

import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// The depth follows a target that rises, before the margin is used up.
@Suite(.optimized) struct DelayRiseTests {
    /// Returns a run in which each eighth packet is later than the others, from 6 s on by one more millisecond a second.
    private static func run(_ profile: LatencyProfile, _ says: @escaping (Int) -> Float) throws -> PlayoutRig.Result {
        var rig = PlayoutRig(configuration: .pcm(frames: 64, latencyProfile: profile), block: 64, seconds: 9)
        rig.says = says
        rig.keepsOutput = false
        rig.delay = { sequence, sent in
            0.001 + (sequence % 8 == 0 ? 0.001 + 0.001 * max(0, min(2, sent - 6)) : 0)
        }
        return try rig.run()
    }

    @Test(arguments: [LatencyProfile.talk, .listen]) func `a target that rises slowly costs no gap`(
        profile: LatencyProfile
    ) throws {
        for says in [voice, chord] as [(Int) -> Float] {
            let result = try Self.run(profile, says)
            let before = try #require(result.history.last { $0.time < 6 }?.statistics)
            #expect(result.since(6, \.glitches) == 0 && result.since(6, \.skips) == 0)
            #expect(result.statistics.targetDepth > before.targetDepth + 0.0018, "it has risen")
            let lag = result.history.filter { $0.time > 6 }.map { $0.statistics.targetDepth - $0.statistics.depth }
            #expect((lag.max() ?? 1) < 0.0005, "\(ms(lag.max() ?? 1))")
        }
    }

    /// The rise is no more audible than a fall: 3.5 cents.
    @Test func `a small shortage changes the speed by at most 0.2 %`() throws {
        let history = try Self.run(.talk, chord).history
        let width = 37  // blocks: 49 ms
        let speeds = (width..<history.count).compactMap { index -> Double? in
            let (first, last) = (history[index - width], history[index])
            guard first.time > 4, last.statistics.stretchedFrames == first.statistics.stretchedFrames else {
                return nil
            }
            let frames = last.statistics.position - first.statistics.position
            return frames / 48_000 / (last.time - first.time) - 1
        }
        let extremes = (speeds.min() ?? -1, speeds.max() ?? 1)
        #expect(extremes.0 > -0.0021 && extremes.1 < 0.0021, "\(extremes)")
        #expect(extremes.0 < -0.0005, "playout follows")
    }
}
