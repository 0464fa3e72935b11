// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Tests calls without a sound card for some time, or with a machine that sleeps: the remote peer hears concealment, silence,
/// and then the voice with the same delay as before, but never noise.
@Suite(.optimized) struct InterruptionTests {
    static let codecs: [Codec] = [.pcm, .opus, .aac]

    private func rig(_ codec: Codec, longestSkip: Double, keepsFrom: Double = 0) throws -> CallSimulation {
        var setup = CallSetup(codec: codec)
        if codec == .aac { setup.rates = (44_100, 44_100) }
        setup.says = { frame, _ in speechLikeNoise(frame) }
        setup.guestSays = { frame, _ in speechLikeNoise(frame, voice: 7) }
        setup.keepsFrom = keepsFrom
        setup.longestSkip = longestSkip
        return try CallSimulation(setup)
    }

    private func level(_ samples: [Float]) -> Double {
        decibels((samples.reduce(0.0) { $0 + Double($1 * $1) } / Double(max(1, samples.count))).squareRoot())
    }

    private func peak(_ samples: [Float]) -> Float { samples.reduce(0) { max($0, abs($1)) } }

    @Test(arguments: codecs, [0.05, 0.3, 2.0])
    func `a route change is concealed, then silent, and then the voice returns at the same delay`(
        codec: Codec, gap: Double
    ) throws {
        var rig = try rig(codec, longestSkip: gap)
        rig.events = [(5, { $0.peers[0].skipCycles(for: gap) })]
        try rig.run(until: 5 + gap + 7)
        let before = try rig.mouthToEar(from: 0, 2.5..<4.5).milliseconds
        let after = try rig.mouthToEar(from: 0, (5 + gap + 1)..<(5 + gap + 3)).milliseconds
        #expect(abs(after - before) < 3, "\(before) ms, then \(after) ms")
        let heard = rig.peers[1]
        let voice = heard.heard(2..<4.9).samples
        let during = heard.heard(5..<(5 + gap + 0.5)).samples
        #expect(peak(during) <= 1.05 * peak(voice), "nothing is louder than the voice was")
        if gap > 0.25 {
            let silent = heard.heard((5 + before * 1e-3 + 0.15)..<(5 + gap)).samples
            #expect(level(silent) < level(voice) - 28)
        }
        let again = heard.heard((5 + gap + 0.5)..<(5 + gap + 3)).samples
        #expect(abs(level(again) - level(voice)) < 3)
        // The gap is counted, with the time that a codec needs to start again.
        let concealed = Double(heard.playout.statistics.concealedFrames) / heard.configuration.streamRate
        #expect(concealed >= gap - 0.03 && concealed <= gap + 0.12, "\(concealed) s")
        // The local user also hears the guest with the same delay again.
        let back = try rig.mouthToEar(from: 1, 2.5..<4.5).milliseconds
        let backAgain = try rig.mouthToEar(from: 1, (5 + gap + 1)..<(5 + gap + 3)).milliseconds
        #expect(abs(backAgain - back) < 3, "\(back) ms, then \(backAgain) ms")
    }

    @Test(arguments: codecs, [5.0, 90])
    func `a machine that slept resumes the call at its previous delay`(codec: Codec, sleep: Double) throws {
        var rig = try rig(codec, longestSkip: sleep, keepsFrom: sleep - 2)
        rig.peers[0].stalls = [5..<(5 + sleep)]
        rig.events = [(5, { $0.peers[0].skipCycles(for: sleep) })]
        try rig.run(until: 4.9)
        let delays = rig.peers.map(\.playout.statistics.delay)
        try rig.run(until: 5 + sleep + 6)
        for (end, delay) in zip(rig.peers, delays) {
            // Now other AAC units may be the earliest ones, since they are sent as blocks complete them.
            #expect(abs(end.playout.statistics.delay - delay) < (codec == .aac ? 0.012 : 0.003))
            #expect(abs(end.playout.statistics.driftPPM) < 100)
        }
        for from in 0..<2 {
            let measured = try rig.mouthToEar(from: from, (5 + sleep + 2)..<(5 + sleep + 4))
            #expect(measured.milliseconds < 100, "\(measured.milliseconds) ms")
        }
        let again = rig.peers[1].heard((5 + sleep + 1)..<(5 + sleep + 4)).samples
        #expect(level(again) > -40)
    }
}
