// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotPlayout
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Calls of more than two: everybody hears everybody in one mix, and members who join and leave disturb nobody.
@Suite(.optimized) struct RoomTests {
    /// A tone for each end, with whole periods in a tenth of a second.
    private static func frequency(_ end: Int) -> Double { 300 + 110 * Double(end) }
    private static let level: Float = 0.1

    private static func setup(_ codec: Codec = .pcm, count: Int, block: Int = 128) -> RoomSetup {
        RoomSetup(codec: codec, count: count, block: block) { end, frame in
            sine(frame, frequency: frequency(end), rate: 48_000, amplitude: Double(level))
        }
    }

    /// Returns the levels of the tones that an end hears in a part of the call: the mean over tenths of a second, in which
    /// playout's changes of speed by a few parts in ten thousand do not show.
    private func levels(_ rig: CallSimulation, at end: Int, _ seconds: Range<Double>) -> [Double] {
        let samples = rig.peers[end].heard(seconds).samples
        let pieces = stride(from: 0, through: samples.count - 4_800, by: 4_800).map { samples[$0..<$0 + 4_800] }
        return rig.peers.indices.map { other in
            pieces.reduce(0) { $0 + amplitude($1, frequency: Self.frequency(other)) } / Double(max(1, pieces.count))
        }
    }

    @Test(arguments: [Codec.pcm, .opus], [3, 8])
    func `each participant hears all others, but not itself`(codec: Codec, count: Int) throws {
        var rig = try CallSimulation(Self.setup(codec, count: count))
        for end in 0..<count { try rig.enter(end) }
        try rig.run(until: 3.5)
        for end in 0..<count {
            for (other, level) in levels(rig, at: end, 3..<3.4).enumerated() {
                let expected = other == end ? 0 : Double(Self.level)
                #expect(abs(level - expected) < 0.02 * Double(Self.level) + 0.002, "\(end) of \(other): \(level)")
            }
            for other in 0..<count where other != end {
                let statistics = rig.peers[end].statistics(of: PeerID(other))
                #expect(statistics.rtp.packetsMissing == 0 && statistics.rtp.packetsIgnored == 0)
                #expect(rig.peers[end].playout(of: PeerID(other))?.statistics.concealedFrames == 0)
            }
        }
    }

    @Test func `a late participant hears everybody, and a leaving one fades out without a click`() throws {
        var rig = try CallSimulation(Self.setup(count: 4))
        for end in 0..<3 { try rig.enter(end) }
        try rig.run(until: 1)
        try rig.enter(3)
        try rig.run(until: 2)
        try rig.leave(1)
        try rig.run(until: 3)
        let before = levels(rig, at: 0, 0.5..<0.9)
        #expect(before[1] > 0.09 && before[2] > 0.09 && before[3] < 0.002)
        let among = levels(rig, at: 0, 1.5..<1.9)
        #expect(among[1] > 0.09 && among[2] > 0.09 && among[3] > 0.09)
        let after = levels(rig, at: 0, 2.5..<2.9)
        #expect(after[1] < 0.002 && after[2] > 0.09 && after[3] > 0.09)
        #expect(levels(rig, at: 3, 1.5..<1.9)[0..<3].allSatisfy { $0 > 0.09 })
        #expect(levels(rig, at: 1, 2.5..<2.9).allSatisfy { $0 < 0.002 })
        // Cutting a tone of 0.1 would be a step of up to 0.1; the tones together change by at most 0.021 per frame.
        for end in [0, 2, 3] {
            let heard = rig.peers[end].heard(0..<2.9).samples
            #expect(zip(heard, heard.dropFirst()).allSatisfy { abs($0 - $1) < 0.025 })
        }
        #expect(rig.peers[0].core.statistics(of: PeerID(1)) == nil)
    }

    @Test func `a participant who joins and leaves a hundred times leaves every seat free`() throws {
        var rig = try CallSimulation(Self.setup(count: 3))
        try rig.enter(0)
        try rig.enter(1)
        for round in 0..<100 {
            try rig.enter(2)
            try rig.run(until: 0.02 * Double(round) + 0.01)
            try rig.leave(2)
            try rig.run(until: 0.02 * Double(round) + 0.02)
        }
        try rig.run(until: 2.6)
        #expect(levels(rig, at: 0, 2.2..<2.6)[1] > 0.09)
    }

    @Test func `a gain changes the level of one participant only`() throws {
        var rig = try CallSimulation(Self.setup(count: 3))
        for end in 0..<3 { try rig.enter(end) }
        try rig.run(until: 1)
        rig.peers[0].setGain(0.25, of: PeerID(1))
        try rig.run(until: 2)
        let quieter = levels(rig, at: 0, 1.3..<1.8)
        #expect(abs(quieter[1] - 0.025) < 0.002 && abs(quieter[2] - 0.1) < 0.004)
        #expect(abs(levels(rig, at: 2, 1.3..<1.8)[1] - 0.1) < 0.004)
    }

    @Test func `eight loud participants stay below full scale without distortion`() throws {
        var rig = try CallSimulation(
            RoomSetup(count: 8) { end, frame in
                sine(frame, frequency: Self.frequency(end), rate: 48_000, amplitude: 0.3)
            })
        for end in 0..<8 { try rig.enter(end) }
        try rig.run(until: 3.5)
        for end in 0..<8 {
            let heard = rig.peers[end].heard(3..<3.4).samples
            #expect(heard.allSatisfy { abs($0) <= 1 })
            let tones = levels(rig, at: end, 3..<3.4)
            // All are equally loud, and the sum is turned down without clipping.
            let others = tones.enumerated().filter { $0.offset != end }.map(\.element)
            #expect((others.max() ?? 1) / (others.min() ?? 0) < 1.1)
            let energy = heard.reduce(0) { $0 + Double($1 * $1) } / Double(heard.count)
            let inTones = tones.reduce(0) { $0 + $1 * $1 / 2 }
            #expect(inTones / energy > 0.9, "\(inTones / energy) of what \(end) hears is tones")
        }
    }

    @Test func `sound that all peers receive in the same format is encoded once`() throws {
        var rig = try CallSimulation(Self.setup(.opus, count: 5))
        for end in 0..<5 { try rig.enter(end) }
        try rig.run(until: 1)
        #expect(rig.peers[0].core.streamCount == 1)
        let sent = (1..<5).map { rig.peers[0].statistics(of: PeerID($0)).rtp.packetsSent }
        #expect(Set(sent).count == 1 && sent[0] > 190)
    }

    @Test func `loss on one path is heard on that path only`() throws {
        var rig = try CallSimulation(Self.setup(count: 3))
        rig.links[1][0].profile.loss = .independent(0.2)
        for end in 0..<3 { try rig.enter(end) }
        try rig.run(until: 2)
        #expect(rig.peers[0].playout(of: PeerID(1))?.statistics.concealedFrames ?? 0 > 0)
        for (end, other) in [(0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            #expect(rig.peers[end].playout(of: PeerID(other))?.statistics.concealedFrames == 0)
        }
    }

    @Test func `the drift of eight devices is followed for each device separately`() throws {
        var setup = Self.setup(count: 8)
        setup.drifts = [-300, -200, -100, -50, 50, 100, 200, 300]
        var rig = try CallSimulation(setup)
        for end in 0..<8 { try rig.enter(end) }
        try rig.run(until: 6)
        for end in 0..<8 {
            for other in 0..<8 where other != end {
                let playout = rig.peers[end].playout(of: PeerID(other))?.statistics
                #expect(playout?.concealedFrames ?? 9_999 <= 240 && playout?.skips ?? 9 <= 1, "\(playout as Any)")
                #expect(playout?.delay ?? 1 < 0.02)
            }
        }
    }

    @Test func `two renegotiating peers keep their SSRCs, and a third hears no difference`() throws {
        func rig(_ renegotiates: Bool) throws -> CallSimulation {
            var rig = try CallSimulation(Self.setup(.opus, count: 3))
            for end in 0..<3 { try rig.enter(end) }
            try rig.run(until: 1)
            if renegotiates {
                var other = rig.peers[0].configuration
                other.framesPerPacket = 480
                try rig.renegotiate(0, 1, other)
            }
            try rig.run(until: 2.5)
            return rig
        }
        let (plain, changed) = (try rig(false), try rig(true))
        #expect(changed.peers[2].heard == plain.peers[2].heard)
        for (end, other) in [(0, 1), (1, 0)] {
            let statistics = changed.peers[end].statistics(of: PeerID(other))
            // Half as many packets from then on, counted as one stream of one source: none appears missing or foreign.
            #expect((340...360).contains(statistics.rtp.packetsSent), "\(statistics.rtp.packetsSent)")
            #expect(statistics.rtp.packetsMissing == 0 && statistics.rtp.packetsIgnored == 0, "\(statistics.rtp)")
            #expect(!statistics.peerLeft)
            #expect(changed.peers[end].playout(of: PeerID(other))?.statistics.framesPerPacket == 480)
            #expect(levels(changed, at: end, 2..<2.4)[other] > 0.09)
        }
        #expect(changed.peers[0].core.streamCount == 2 && changed.peers[2].core.streamCount == 1)
    }

    @Test func `two peers on hold exchange no sound, and resume without loss or a click`() throws {
        var rig = try CallSimulation(Self.setup(count: 3))
        for end in 0..<3 { try rig.enter(end) }
        try rig.run(until: 1)
        try rig.renegotiate(0, 1, direction: .inactive)
        try rig.run(until: 1.1)
        #expect(rig.peers[0].core.statistics(of: PeerID(1)) == nil)
        try rig.run(until: 2)
        try rig.renegotiate(0, 1)
        try rig.run(until: 3)
        #expect(levels(rig, at: 0, 1.2..<1.9)[1] < 0.002 && levels(rig, at: 1, 1.2..<1.9)[0] < 0.002)
        #expect(levels(rig, at: 0, 1.2..<1.9)[2] > 0.09 && levels(rig, at: 1, 1.2..<1.9)[2] > 0.09)
        #expect(levels(rig, at: 0, 2.3..<2.9)[1] > 0.09 && levels(rig, at: 1, 2.3..<2.9)[0] > 0.09)
        // The second of silence is a gap in time, but not in numbers.
        let statistics = rig.peers[0].statistics(of: PeerID(1))
        #expect(
            statistics.rtp.packetsMissing == 0 && statistics.rtp.packetsIgnored == 0 && statistics.rtp.restarts == 0)
        // Those who stay are heard without a click: together the tones change by at most 0.016 per frame.
        for end in [0, 1] {
            let heard = rig.peers[end].heard(0.9..<2.9).samples
            #expect(zip(heard, heard.dropFirst()).allSatisfy { abs($0 - $1) < 0.025 })
        }
    }

    @Test func `a listen-only participant hears the others but is not heard`() throws {
        var rig = try CallSimulation(Self.setup(count: 3))
        for end in 0..<3 { try rig.enter(end) }
        try rig.renegotiate(0, 1, direction: .sendOnly)
        try rig.run(until: 2.5)
        #expect(levels(rig, at: 0, 1..<1.9)[1] < 0.002 && levels(rig, at: 1, 1..<1.9)[0] > 0.09)
        let (speaker, listener) = (
            rig.peers[0].statistics(of: PeerID(1)).rtp, rig.peers[1].statistics(of: PeerID(0)).rtp
        )
        #expect(speaker.packetsReceived == 0 && listener.packetsSent == 0)
        // It still reports its reception.
        #expect(speaker.remote?.cumulativeLost == 0 && speaker.roundTrip != nil)
    }

    @Test func `all participants see who is speaking, and only during the speech`() throws {
        var rig = try CallSimulation(
            RoomSetup(count: 3) { end, frame in
                let speaks = end == 1 && (48_000..<96_000).contains(frame)
                // Constant noise of −62 dBFS, and a voice for a second.
                return speechLikeNoise(frame, voice: UInt64(end)) * (speaks ? 1 : 0.004)
            })
        for end in 0..<3 { try rig.enter(end) }
        var spoken: [[Double]] = [[], [], []]  // when each saw the second speak; the second itself too
        for step in 0..<300 {
            try rig.run(until: 0.01 * Double(step))
            for end in rig.peers.indices {
                let speaks =
                    end == 1
                    ? rig.peers[1].processor.levels.isSpeaking
                    : rig.peers[end].level(of: PeerID(1))?.isSpeaking ?? false
                if speaks { spoken[end].append(0.01 * Double(step)) }
            }
            #expect(rig.peers[1].level(of: PeerID(0))?.isSpeaking != true)
        }
        for times in spoken {
            let (first, last) = (try #require(times.first), try #require(times.last))
            #expect(first > 1.04 && first < 1.3, "from \(first)")
            #expect(last > 2.2 && last < 2.5, "until \(last)")
        }
    }
}
