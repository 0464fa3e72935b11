// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Every codec and form of a call without packet loss: nothing is lost, nothing is concealed, and the delay is as expected.
@Suite(.optimized) struct CallCodecTests {
    /// A form of a call, and its maximum delay from mouth to ear in milliseconds.
    struct Form: CustomTestStringConvertible, Sendable {
        var codec: Codec
        var channelCount = 1
        var frame: Double?
        var rate = 48_000.0
        var block: Int
        var limit: Double

        var testDescription: String {
            "\(codec) \(Int(rate)) Hz ×\(channelCount), \(frame.map { "\($0) ms, " } ?? "")block \(block)"
        }

        var setup: CallSetup {
            CallSetup(
                codec: codec, channelCount: channelCount, opusFrameMilliseconds: frame, rates: (rate, rate),
                blocks: (block, block), says: { frame, channel in speechLikeNoise(frame, voice: UInt64(channel)) })
        }
    }

    static let forms = [
        Form(codec: .pcm, block: 64, limit: 8),
        Form(codec: .pcm, block: 256, limit: 20),
        Form(codec: .pcm, block: 470, limit: 35),
        Form(codec: .pcm, block: 1, limit: 4),
        Form(codec: .pcm, channelCount: 2, block: 128, limit: 12),
        Form(codec: .pcm, channelCount: 2, block: 1024, limit: 75),
        Form(codec: .pcm, channelCount: 2, rate: 44_100, block: 470, limit: 35),
        Form(codec: .opus, frame: 2.5, block: 64, limit: 15),
        Form(codec: .opus, channelCount: 2, frame: 5, block: 128, limit: 22),
        Form(codec: .opus, frame: 10, block: 256, limit: 40),
        Form(codec: .opus, channelCount: 2, frame: 20, block: 256, limit: 55),
        Form(codec: .opus, frame: 20, rate: 44_100, block: 441, limit: 60),
        Form(codec: .opusCustom, block: 64, limit: 9),
        Form(codec: .opusCustom, block: 128, limit: 12),
        Form(codec: .opusCustom, channelCount: 2, block: 256, limit: 21),
        Form(codec: .opusCustom, rate: 44_100, block: 64, limit: 9.5),
        Form(codec: .opusCustom, block: 1, limit: 9),
        Form(codec: .opusCustom, channelCount: 2, rate: 44_100, block: 470, limit: 38),
        Form(codec: .opusCustom, block: 1_024, limit: 76),
        Form(codec: .aac, rate: 44_100, block: 256, limit: 100),
        Form(codec: .aac, channelCount: 2, rate: 44_100, block: 1024, limit: 150),
        Form(codec: .aac, rate: 48_000, block: 256, limit: 100),
    ]

    @Test(arguments: forms) func `a lossless network delivers every frame within the maximum delay of its format`(
        form: Form
    ) throws {
        var rig = try CallSimulation(form.setup)
        try rig.run(until: 6)
        for end in 0..<2 {
            let statistics = rig.peers[end].statistics
            let playout = rig.peers[end].playout.statistics
            #expect(statistics.rtp.packetsMissing == 0 && statistics.rtp.packetsIgnored == 0)
            #expect(statistics.captureLostFrames == 0 && statistics.corruptPackets == 0)
            #expect(statistics.rejectedPackets == 0 && statistics.lateUnits == 0)
            #expect(playout.missingPackets == 0 && playout.latePackets == 0)
            #expect(playout.concealedFrames == 0 && playout.skips == 0 && playout.restarts == 0)
            #expect(statistics.rtp.roundTrip ?? 0 > 0.0019 && statistics.rtp.roundTrip ?? 1 < 0.020)
            let delay = try rig.mouthToEar(from: 1 - end, 3..<5)
            print("call delay \(form.testDescription): \(delay.milliseconds) ms, confidence \(delay.confidence)")
            #expect(delay.confidence > 0.3)
            #expect(delay.milliseconds <= form.limit)
            #expect(delay.maximum - delay.minimum < 0.5)
        }
    }

    @Test func `stereo channels stay separate`() throws {
        var setup = CallSetup(codec: .pcm, channelCount: 2)
        setup.says = { frame, channel in channel == 0 ? sine(frame, frequency: 440, rate: 48_000) : 0 }
        var rig = try CallSimulation(setup)
        try rig.run(until: 3)
        for end in rig.peers {
            let left = Array(end.heard[0].suffix(48_000))
            #expect(sineDefect(left, frequency: 440, rate: 48_000) < -60)
            #expect(end.heard[1].suffix(48_000).allSatisfy { abs($0) < 1e-4 })
        }
    }

    @Test func `the same seed gives the same bytes`() throws {
        func call(seed: UInt64) throws -> (UInt64, [UInt32]) {
            var setup = CallSetup(
                codec: .opus, opusFrameMilliseconds: 5, rates: (44_100, 48_000), drifts: (50, -50))
            setup.seed = seed
            var rig = try CallSimulation(setup)
            rig.network.delay = .uniform(0.001...0.005)
            rig.network.loss = .independent(0.02)
            rig.network.duplication = 0.02
            rig.network.reordering = 0.02
            try rig.run(until: 5)
            return (rig.digest, rig.peers.flatMap { $0.heard[0].map(\.bitPattern) })
        }
        let first = try call(seed: 7)
        let second = try call(seed: 7)
        let other = try call(seed: 8)
        #expect(first == second)
        #expect(first.0 != other.0 && first.1 != other.1)
    }
}
