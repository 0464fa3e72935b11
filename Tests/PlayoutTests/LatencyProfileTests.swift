// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

@Suite struct LatencyProfileTests {
    @Test func `the presets have the documented late shares and ceilings`() {
        #expect((LatencyProfile.sing.lateShare, LatencyProfile.sing.ceiling) == (0.01, 0.015))
        #expect((LatencyProfile.talk.lateShare, LatencyProfile.talk.ceiling) == (0.003, 0.080))
        #expect((LatencyProfile.listen.lateShare, LatencyProfile.listen.ceiling) == (0.000_2, 0.500))
    }

    @Test func `latency profiles between the presets change geometrically and in one direction`() throws {
        let quarter = try #require(LatencyProfile(position: 0.25))
        #expect(abs(quarter.ceiling - (0.015 * 0.080).squareRoot()) < 1e-9)
        #expect(abs(quarter.lateShare - (0.01 * 0.003).squareRoot()) < 1e-9)
        #expect(
            LatencyProfile.sing.delayPerSavedPacket == 0.001 && quarter.delayPerSavedPacket == 0.001
                && LatencyProfile.talk.delayPerSavedPacket == 0)
        let profiles = (0...100).compactMap { LatencyProfile(position: Double($0) / 100) }
        #expect(profiles.count == 101)
        for (a, b) in zip(profiles, profiles.dropFirst()) {
            #expect(a.ceiling < b.ceiling && a.lateShare > b.lateShare && a.memory < b.memory)
            #expect(a.delayPerSavedPacket >= b.delayPerSavedPacket)
        }
    }

    @Test(arguments: [
        ("sing", 0.0), ("talk", 0.5), ("listen", 1), ("0.4", 0.4), ("0", 0), ("1", 1), ("5e-1", 0.5),
    ])
    func `a latency profile is parsed from a name or a position`(text: String, position: Double) throws {
        #expect(try #require(LatencyProfile(text)).position == position)
    }

    @Test(arguments: ["", "Talk", "loud", "1.1", "-0.1", "nan", "inf", "0,4", "0.4 ", "40%"])
    func `invalid text gives no latency profile`(text: String) { #expect(LatencyProfile(text) == nil) }

    @Test func `the description of a latency profile parses to the same profile`() throws {
        for position in [0, 0.123, 0.5, 0.75, 1] {
            let profile = try #require(LatencyProfile(position: position))
            #expect(LatencyProfile(profile.description) == profile)
        }
        #expect(LatencyProfile.talk.description == "talk")
    }

    @Test(arguments: [voice, chord] as [@Sendable (Int) -> Float])
    func `a new latency profile during playout moves the delay within a second, without a click`(
        says: @escaping @Sendable (Int) -> Float
    ) throws {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .listen), seconds: 60)
        rig.says = says
        let network = NetworkProfile(name: "", jitter: .gamma(least: 0.005, mean: 0.006, most: 0.100))
        rig.delay = network.delays(seed: 3)
        rig.before = { playout, now in
            if now >= 30, playout.latencyProfile == .listen { playout.latencyProfile = .sing }
        }
        let r = try rig.run()
        let before = try #require(r.history.last { $0.time < 30 }?.statistics)
        let after = try #require(r.history.first { $0.time > 31 }?.statistics)
        #expect(before.targetDepth > after.targetDepth + 0.008, "\(before.targetDepth) to \(after.targetDepth)")
        #expect(abs(after.depth - after.targetDepth) < 0.006, "\(after.depth) for \(after.targetDepth)")
        #expect(after.glitches - before.glitches < 30)  // by the share that may be late, not by the change
        let usual = steepest(r.output[(10 * 48_000)..<(29 * 48_000)])
        #expect(steepest(r.output[(30 * 48_000)..<(31 * 48_000)]) < 1.3 * usual)
    }
}
