// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestTraits
import Testing

@testable import EarshotPlayout

/// Packets that wait for the end of a block of the sender's device.
@Suite struct SenderBlockTests {
    /// Returns the statistics of a stream whose first packet ends with a block, and the later ones up to a block earlier.
    private func play(_ configuration: PlayoutConfiguration, block: Int, known: Int) throws -> PlayoutStatistics {
        var configuration = configuration
        let packet = configuration.framesPerPacket
        configuration.senderBlock = known
        var rig = PlayoutRig(configuration: configuration, block: 128, seconds: 1)
        rig.delay = { sequence, sent in
            let ending = sequence * packet  // the frames behind the end of the first packet
            return Double((ending + block - 1) / block * block - ending) / 48_000 + 0.001
        }
        return try rig.run().statistics
    }

    @Test(arguments: [(480, 512), (240, 512), (480, 441)])
    func `a stream of a device with long blocks begins without a gap`(packet: Int, block: Int) throws {
        #expect(try play(.decoded(frames: packet), block: block, known: block).concealedFrames == 0)
        #expect(try play(.decoded(frames: packet), block: block, known: 0).concealedFrames > 0)
    }

    @Test(arguments: [(64, 64), (512, 512), (480, 64), (480, 128)])
    func `packets that are blocks, and short blocks, add no delay`(packet: Int, block: Int) throws {
        let (known, unknown) = (
            try play(.decoded(frames: packet), block: block, known: block),
            try play(.decoded(frames: packet), block: block, known: 0)
        )
        #expect(known.depth == unknown.depth && known.concealedFrames == 0)
    }

    /// The usual reserve covers the jitter of a wired network, or the wait for a block of 256 frames, but not both.
    @Test(arguments: [(240, 256), (960, 256)])
    func `packets that wait for usual blocks begin with a delay for the jitter too`(packet: Int, block: Int) throws {
        var configuration = PlayoutConfiguration.decoded(frames: packet)
        configuration.senderBlock = block
        var rig = PlayoutRig(configuration: configuration, block: 64, seconds: 1)
        // The first packet is the promptest one, and ends with a block. A later one needs the longest delay of all.
        let divisor = BlockGrid.greatestCommonDivisor(packet, block)
        var latest = -1
        rig.delay = { sequence, _ in
            let ending = sequence * packet
            let wait = (ending + block - 1) / block * block - ending
            if wait == block - divisor, latest < 0 { latest = sequence }
            return Double(wait) / 48_000 + (sequence == latest ? 0.0029 : 0.001)
        }
        let statistics = try rig.run().statistics
        #expect(statistics.concealedFrames == 0 && latest > 0, "\(statistics)")
    }

    @Test func `parts of a block of PCM add no delay`() throws {
        let depths = try [0, 1_024].map { try play(.pcm(frames: 600), block: 1_024, known: $0).depth }
        #expect(depths[0] == depths[1])
    }

    /// The delay of the first sound, and that after the delays were learned, on a wired network. `EARSHOT_FIGURES=1` prints them.
    @Test(arguments: [64, 128, 256, 512])
    func `packets of any length begin almost without a gap`(block: Int) throws {
        for packet in [block, 240, 480, 960] {
            var (first, learned, gaps): ([Double], [Double], [Int]) = ([], [], [])
            var firstWaits = 0.0  // the mean wait of the first packets, in ms
            for known in [0, block] {
                var delays: [(first: Double, learned: Double)] = []
                var gap = 0
                firstWaits = 0
                for phase in 0..<16 {
                    var configuration = PlayoutConfiguration.decoded(frames: packet)
                    configuration.senderBlock = known
                    var rig = PlayoutRig(configuration: configuration, block: 128, seconds: 6)
                    rig.keepsOutput = false
                    var random = SeededRandom(seed: UInt64(phase))
                    rig.delay = { sequence, _ in
                        let ending = sequence * packet + phase * block / 16
                        let wait = (ending + block - 1) / block * block - ending
                        return Double(wait) / 48_000 + 0.001 + 0.002 * random.unit()
                    }
                    let result = try rig.run()
                    func delay(at time: Double) -> Double {
                        result.history.first { $0.time >= time }.map { $0.time - $0.statistics.position / 48_000 } ?? 0
                    }
                    delays.append((delay(at: 0.06), delay(at: 5.9)))
                    let ending = phase * block / 16
                    firstWaits += Double((ending + block - 1) / block * block - ending) / 48 / 16
                    gap = max(gap, result.statistics.concealedFrames)
                }
                first.append(delays.map(\.first).reduce(0, +) / 16 * 1e3)
                learned.append(delays.map(\.learned).reduce(0, +) / 16 * 1e3)
                gaps.append(gap)
            }
            if printsFigures {
                print("block \(block), packet \(packet): first \(first) ms, after 6 s \(learned) ms, gap \(gaps)")
            }
            #expect(gaps[1] <= gaps[0] && gaps[1] < 20, "block \(block), packet \(packet): \(gaps)")
            // The first packet's wait is unknown, so that the first delay is longer by it, and by the jitter of 2 ms. An encoder that
            // begins with the call has the beginning of a block, and its first packet a short wait.
            let excess = first[1] - learned[1]
            if block >= 256, packet != block {
                #expect(excess > firstWaits - 0.5 && excess < firstWaits + 2, "\(excess) ms, \(firstWaits)")
            }
        }
    }

    @Test(arguments: [100_000, .max, -5]) func `an impossible block is no reason for a long delay`(block: Int) throws {
        let statistics = try play(.decoded(frames: 480), block: 128, known: block)
        #expect(statistics.concealedFrames == 0 && statistics.depth < 0.2, "\(statistics.depth)")
    }
}
