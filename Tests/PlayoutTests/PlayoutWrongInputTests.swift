// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// A peer's faults must be counted, bounded and soon over.
@Suite(.optimized) struct PlayoutWrongInputTests {
    /// Expects the last two seconds to be a clean sine, with the delay of a line without loss.
    private func expectRecovered(_ r: PlayoutRig.Result, defect: Double = -55) {
        #expect(r.statistics.depth < 0.002, "\(r.statistics.depth)")
        #expect(sineDefect(Array(r.output.suffix(48_000 * 2)), frequency: 440, rate: 48_000) < defect)
    }

    @Test(arguments: [(1 << 16, 1 << 32), ((1 << 32) - 200, (1 << 48) - 25_600)])
    func `sequence numbers and positions beyond the range of the wire format are valid`(start: (Int, Int)) throws {
        var rig = PlayoutRig(configuration: .pcm(), seconds: 8, restart: 0)
        rig.restartShift = start
        let r = try rig.run()
        #expect(r.statistics.restarts == 0 && r.statistics.missingPackets == 0)
        expectRecovered(r)
    }

    @Test(arguments: [
        (1_000_000, 10_000_000), (-1_500, -192_000), (-1_000, 0), (0, -500_000), (700, 0), (-200, -25_600),
    ])
    func `a peer that restarts its sequence numbers is heard again within a second and a half`(shift: (Int, Int)) throws
    {
        var rig = PlayoutRig(configuration: .pcm(), seconds: 20, restart: 8)
        rig.restartShift = shift
        let r = try rig.run()
        #expect(r.statistics.restarts <= 2)
        #expect(r.since(9.5, \.concealedFrames) == 0, "\(r.since(9.5, \.concealedFrames))")
        expectRecovered(r)
    }

    @Test(arguments: [(128, 480), (480, 120), (64, 441), (600, 16)])
    func `playout continues when the frame size changes during a call`(frames: (Int, Int)) throws {
        var rig = PlayoutRig(configuration: .pcm(frames: frames.0), seconds: 16)
        rig.frameChange = (5, frames.1)
        let r = try rig.run()
        #expect(r.statistics.framesPerPacket == frames.1)
        #expect(r.statistics.glitches <= 2 && r.statistics.restarts == 0, "\(r.statistics)")
        expectRecovered(r)
    }

    @Test(arguments: [44_100.0, 47_000, 49_000, 52_000])
    func `a peer with a false sample rate is played at its true rate within half a minute`(rate: Double) throws {
        // Its timeline counts frames, of which a second has more or fewer than announced.
        let rig = PlayoutRig(configuration: .pcm(), seconds: 60, senderPPM: (rate / 48_000 - 1) * 1e6)
        let r = try rig.run()
        #expect(abs(r.statistics.driftPPM * 1e-6 - (rate / 48_000 - 1)) < 50e-6, "\(r.statistics.driftPPM)")
        let early = r.history.filter { $0.time < 30 }.map(\.statistics.depth)
        #expect((early.max() ?? 1) < 0.5 && (early.min() ?? -1) > -0.5)
        #expect(r.since(30, \.concealedFrames) == 0 && r.since(30, \.skips) == 0)
        #expect(r.statistics.depth < 0.002, "\(r.statistics.depth)")
    }

    @Test func `a peer that jumps in time has no lasting effect`() throws {
        var rig = PlayoutRig(configuration: .pcm(), seconds: 20)
        // Occasionally a packet with an unrelated position and number.
        rig.extra = { sequence, sent in
            guard sequence % 500 == 250, sent < 10 else { return nil }
            return PacketHeader(
                sequence: sequence + 40, position: sequence * 128 + 4_000_000 * (sequence / 500), frameCount: 128,
                byteCount: 256, arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + 0.001))
        }
        let r = try rig.run()
        #expect(r.statistics.restarts > 1)
        #expect(r.since(11.5, \.concealedFrames) == 0)
        expectRecovered(r)
    }

    @Test(arguments: [LatencyProfile.sing, .talk, .listen])
    func `an hour of silence has no effect, and the peer is heard at once afterwards`(profile: LatencyProfile) throws {
        var rig = PlayoutRig(
            configuration: .pcm(frames: 480, latencyProfile: profile), block: 480, seconds: 3_640, senderPPM: 35)
        rig.says = tabled()
        rig.silence = 20..<3_620
        rig.historyInterval = 0.1
        rig.keepsOutput = false
        rig.delay = NetworkProfile.lan.delays(seed: 8)
        let r = try rig.run()
        #expect(r.statistics.restarts == 0)
        let back = try #require(r.history.first { $0.time > 3_621 }?.statistics)
        #expect(abs(back.depth - back.targetDepth) < 0.001, "\(back)")
        #expect(back.depth < 0.0045)
        #expect(r.since(3_621, \.concealedFrames) < 48_000 / 5)
        #expect(r.statistics.glitches < 60)
    }
}
