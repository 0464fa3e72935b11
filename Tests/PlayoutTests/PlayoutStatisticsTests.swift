// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

@Suite struct PlayoutStatisticsTests {
    private func expectNothing(_ statistics: PlayoutStatistics, but changed: Set<String> = []) throws {
        for child in Mirror(reflecting: statistics).children {
            let (name, value) = (try #require(child.label), child.value)
            if changed.contains(name) { continue }
            switch value {
            case let count as Int: #expect(count == 0, "\(name)")
            case let seconds as Double: #expect(seconds == 0, "\(name)")
            case let flag as Bool: #expect(!flag, "\(name)")
            default: Issue.record("\(name) is neither a count, seconds nor a flag")
            }
        }
    }

    @Test func `every count begins at 0`() throws {
        try expectNothing(PlayoutStatistics())
        try expectNothing(try Playout(.pcm()).statistics)
    }

    @Test func `only packets are counted on a lossless line`() throws {
        let statistics = try PlayoutRig(configuration: .pcm(), seconds: 20).run().statistics
        let measures: Set = ["depth", "targetDepth", "depthLimit", "delay", "position", "driftPPM"]
        try expectNothing(statistics, but: measures.union(["packets", "framesPerPacket", "isStarted"]))
        #expect(statistics.isStarted && statistics.framesPerPacket == 128)
        let sent = 20 * 48_000 / 128
        #expect(statistics.packets == sent || statistics.packets == sent - 1, "\(statistics.packets)")
    }

    @Test func `consecutive lost packets count as one glitch`() throws {
        let rig = PlayoutRig(
            configuration: .pcm(), seconds: 10,
            delay: { sequence, _ in (1_000..<1_004).contains(sequence) || sequence == 2_000 ? nil : 0.001 })
        let statistics = try rig.run().statistics
        #expect(statistics.missingPackets == 5 && statistics.glitches == 2)
    }

    /// The sender encodes the number of each frame.
    @Test(arguments: [44_100.0, 48_000, 96_000])
    func `the position is that of the first frame of the block`(device: Double) throws {
        var configuration = PlayoutConfiguration.decoded(frames: 128)
        configuration.deviceRate = device
        var rig = PlayoutRig(configuration: configuration, seconds: 5, senderPPM: 50)
        let scale: Float = 1 / 1_048_576
        rig.says = { Float($0) * scale }
        let result = try rig.run()
        for (block, entry) in result.history.enumerated() where entry.time > 2 {
            let heard = Double(result.output[block * rig.block] / scale)
            try #require(abs(heard - entry.statistics.position) < 0.5, "\(heard) \(entry.statistics.position)")
        }
    }
}
