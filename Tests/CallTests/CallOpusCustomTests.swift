// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Calls in Opus Custom on virtual time: their delay, different blocks and sample rates, and loss.
@Suite(.optimized) struct CallOpusCustomTests {
    private func setup(
        _ codec: Codec = .opusCustom, frame: Double? = nil, rates: (Double, Double) = (48_000, 48_000),
        blocks: (Int, Int) = (64, 64), drifts: (Double, Double) = (0, 0)
    ) -> CallSetup {
        CallSetup(
            codec: codec, opusFrameMilliseconds: frame, rates: rates, blocks: blocks, drifts: drifts,
            says: { frame, channel in speechLikeNoise(frame, voice: UInt64(channel)) })
    }

    /// Mouth-to-ear delay in each direction, including the network's 0.1 ms.
    private func delays(_ setup: CallSetup, from seconds: Double = 14) throws -> [Double] {
        var rig = try CallSimulation(setup)
        rig.network.delay = .constant(0.0001)
        try rig.run(until: seconds + 4)
        return try (0..<2).map { try rig.mouthToEar(from: $0, seconds..<(seconds + 3)).milliseconds }
    }

    @Test func `with 64-frame blocks Opus Custom adds one block of delay to PCM, and Opus adds more`() throws {
        let pcm = try delays(setup(.pcm))
        let custom = try delays(setup())
        let opus = try delays(setup(.opus, frame: 2.5))
        for way in 0..<2 {
            print("mouth to ear, 64 frames: PCM \(pcm[way]), Opus Custom \(custom[way]), Opus \(opus[way]) ms")
            #expect(abs(custom[way] - pcm[way] - 64 / 48.0) < 0.7)  // blocks may meet otherwise
            #expect(custom[way] < 7.5 && opus[way] < 10.5 && custom[way] < opus[way] - 2)
        }
    }

    /// The least delay for the two ends' blocks and the codec, in milliseconds: both blocks, the card's, the overlap, half the
    /// resampler, the margin; for another sample rate the filter before the encoder, and the part of a frame across blocks.
    @Test(
        arguments: [
            ((48_000.0, 48_000.0), (64, 128)), ((48_000, 48_000), (128, 64)), ((48_000, 48_000), (256, 64)),
            ((44_100, 48_000), (64, 64)), ((48_000, 44_100), (64, 64)), ((44_100, 44_100), (64, 128)),
            ((44_100, 48_000), (256, 128)), ((96_000, 44_100), (128, 470)),
        ]) func `peers with different block sizes and sample rates meet the computed delay`(
            rates: (Double, Double), blocks: (Int, Int)
        ) throws
    {
        var rig = try CallSimulation(setup(rates: rates, blocks: blocks, drifts: (60, -60)))
        rig.network.delay = .constant(0.0001)
        try rig.run(until: 18)
        for end in 0..<2 {
            let statistics = rig.peers[end].statistics
            let playout = rig.peers[end].playout.statistics
            #expect(statistics.rtp.packetsMissing == 0 && statistics.corruptPackets == 0)
            #expect(playout.missingPackets == 0 && playout.restarts == 0)
            let started = rig.peers[end].history.last { $0.elapsed < 4 }
            let madeUpAtFirst = started?.statistics.concealedFrames
            #expect(playout.concealedFrames == madeUpAtFirst, "nothing made up after the start")
            let (from, to) = (rig.peers[1 - end].configuration, rig.peers[end].configuration)
            let sent = Double(from.deviceBlock) / from.deviceRate
            let played = Double(to.deviceBlock) / to.deviceRate
            let converts = from.deviceRate != from.streamRate
            let frame = 64 / from.streamRate
            let isWhole = !converts && from.deviceBlock % 64 == 0
            let least = sent + 2 * played + frame + 0.0004 + 0.0005
            let most = least + (converts ? 0.0008 : 0) + (isWhole ? 0 : frame) + max(sent, played) + 0.001
            let delay = try rig.mouthToEar(from: 1 - end, 14..<17).milliseconds
            print(
                "Opus Custom \(from.deviceRate)/\(from.deviceBlock) to \(to.deviceRate)/\(to.deviceBlock): \(delay) ms")
            #expect(delay > least * 1e3 - 0.3 && delay < most * 1e3, "\(least * 1e3) to \(most * 1e3)")
        }
    }

    @Test(arguments: [64, 128, 256]) func `2 % packet loss is concealed and counted`(
        block: Int
    ) throws {
        var rig = try CallSimulation(setup(blocks: (block, block)))
        rig.network.loss = .independent(0.02)
        try rig.run(until: 10)
        for end in 0..<2 {
            let statistics = rig.peers[end].statistics
            let playout = rig.peers[end].playout.statistics
            let lost = statistics.rtp.packetsMissing
            let packets = 10 * 48_000 / block
            #expect(lost > packets / 100 && lost < packets * 3 / 100)
            #expect(abs(playout.missingPackets - lost) <= 2 && statistics.corruptPackets == 0)
            #expect(abs(playout.concealedFrames - lost * block) <= 4 * block)
            let heard = rig.peers[end].heard[0]
            #expect(heard.allSatisfy { $0.isFinite && abs($0) < 1 })
            let delay = try rig.mouthToEar(from: 1 - end, 6..<9)
            #expect(delay.confidence > 0.3)
        }
    }
}
