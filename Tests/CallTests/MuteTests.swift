// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import Testing

@testable import EarshotCall

/// Tests muting the local voice in complete calls on virtual time.
@Suite struct MuteTests {
    private func steepest(_ samples: [Float]) -> Float {
        zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }

    @Test(arguments: [Codec.pcm, .opus])
    func `muting and unmuting make no click, and packets continue without concealment`(
        codec: Codec
    ) throws {
        var setup = CallSetup(codec: codec, opusFrameMilliseconds: 10)
        setup.says = { frame, _ in sine(frame, frequency: 300, rate: 48_000, amplitude: 0.3) }
        setup.guestSays = { frame, _ in speechLikeNoise(frame) }
        func rig(_ mutes: Bool) throws -> CallSimulation {
            var rig = try CallSimulation(setup)
            if mutes {
                rig.events = [
                    (1, { $0.peers[0].processor.isMuted = true }), (2, { $0.peers[0].processor.isMuted = false }),
                    // On and off within the fade.
                    (3, { $0.peers[0].processor.isMuted = true }), (3.002, { $0.peers[0].processor.isMuted = false }),
                ]
            }
            try rig.run(until: 4)
            return rig
        }
        let (plain, muted) = (try rig(false), try rig(true))
        let heard = muted.peers[1].heard(0.5..<4).samples
        #expect(steepest(heard) < 1.3 * steepest(plain.peers[1].heard(0.5..<4).samples))
        let during = muted.peers[1].heard(1.2..<1.9).samples
        #expect(during.allSatisfy { abs($0) < 1e-4 })
        let (after, want) = (muted.peers[1].heard(3.3..<3.9).samples, plain.peers[1].heard(3.3..<3.9).samples)
        if codec == .pcm { #expect(after == want) }
        #expect(muted.peers[1].statistics.rtp.packetsReceived == plain.peers[1].statistics.rtp.packetsReceived)
        #expect(muted.peers[1].playout.statistics.concealedFrames == 0)
        // The local meter still shows the microphone, and the remote peer is heard as before.
        #expect(muted.peers[0].processor.levels.spokenPeak > 0.29)
        #expect(muted.peers[0].heard == plain.peers[0].heard)
    }

    @Test func `a muted participant is shown as speaking locally, but not to the remote peer`() throws {
        var setup = CallSetup()
        setup.says = { frame, _ in speechLikeNoise(frame) }
        var rig = try CallSimulation(setup)
        try rig.run(until: 1)
        #expect(rig.peers[1].level(of: PeerID(0))?.isSpeaking == true)
        rig.peers[0].processor.isMuted = true
        try rig.run(until: 2)
        #expect(rig.peers[1].level(of: PeerID(0))?.isSpeaking == false)
        #expect(rig.peers[1].level(of: PeerID(0))?.block.peak == 0)
        #expect(rig.peers[0].processor.levels.isSpeaking)
    }
}
