// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Lost packets that arrive after all, in complete calls on virtual time.
@Suite(.optimized) struct RepairCallTests {
    /// Returns the receiver's concealed frames in a part of a call.
    private func concealed(_ rig: inout RepairRig, _ seconds: Range<Double>) throws -> Double {
        try rig.run(until: seconds.lowerBound)
        let before = rig.ends[1].playout.statistics.concealedFrames
        try rig.run(until: seconds.upperBound)
        let frames = rig.ends[1].playout.statistics.concealedFrames - before
        return Double(frames) / 48_000 / (seconds.upperBound - seconds.lowerBound)
    }

    @Test(arguments: [1, 2, 3]) func `speech with 5 % packet loss has less than 1 % concealed`(seed: UInt64) throws {
        var rig = try RepairRig(RepairRig.configuration(.opus, frames: 960))
        rig.way = lossy(0.05, seed: seed)
        let share = try concealed(&rig, 15..<75)
        let statistics = rig.ends[1].statistics
        #expect(share < 0.01, "of 5 %")
        #expect(statistics.recoveredPackets > 100 && statistics.redundantPackets > 1_000)
        let playout = rig.ends[1].playout.statistics
        #expect(playout.depth < 0.050, "\(playout.depth)")
        #expect(rig.ends[0].statistics.redundancy.count >= 1)
        // In the other direction nothing was lost.
        #expect(rig.ends[1].statistics.redundancy == .none && rig.ends[0].statistics.recoveredPackets == 0)
    }

    @Test func `redundancy begins within five seconds of loss, and ends within a minute after it`() throws {
        var rig = try RepairRig(RepairRig.configuration(.opus, frames: 960))
        try rig.run(until: 5)
        #expect(rig.ends[0].statistics.redundancy == .none)
        let before = rig.ends[1].playout.statistics.depth
        rig.way = lossy(0.05, seed: 4)
        try rig.run(until: 10)
        #expect(rig.ends[0].statistics.redundancy.count >= 1)
        try rig.run(until: 25)
        #expect(rig.ends[1].playout.statistics.depth > before + 0.015, "it waits for what comes a packet later")
        rig.way = lossy(0)
        try rig.run(until: 85)
        #expect(rig.ends[0].statistics.redundancy == .none)
        #expect(rig.ends[1].playout.statistics.depth < before + 0.003)
    }

    @Test func `redundancy covers loss bursts of two and a half packets`() throws {
        var rig = try RepairRig(RepairRig.configuration(.opus, frames: 960))
        rig.way = lossy(0.03, burst: 2.5, seed: 3)
        let share = try concealed(&rig, 30..<120)
        #expect(share < 0.014, "\(share)")
        #expect(rig.ends[0].statistics.redundancy.reach >= 3)
    }

    @Test(arguments: [128, 256])
    func `PCM with 1 % packet loss is recovered almost completely at a few blocks of delay`(frames: Int) throws {
        var rig = try RepairRig(RepairRig.configuration(.pcm, frames: frames))
        rig.way = lossy(0.01, seed: 2)
        let share = try concealed(&rig, 15..<45)
        #expect(share < 0.0012, "\(share)")
        #expect(rig.ends[1].playout.statistics.depth < 0.005 + 3 * Double(frames) / 48_000)
        #expect(rig.largest <= 1_300)
    }

    /// At 1,200 bytes per packet RED has no room for copies.
    @Test func `large blocks are repeated in separate packets`() throws {
        var rig = try RepairRig(RepairRig.configuration(.pcm, frames: 600))
        rig.way = lossy(0.02, seed: 2)
        let share = try concealed(&rig, 15..<45)
        #expect(share < 0.002, "\(share)")
        let statistics = rig.ends[1].statistics
        #expect(statistics.recoveredPackets > 20 && statistics.corruptPackets == 0)
        #expect(rig.largest <= 1_300)
        #expect(rig.ends[0].statistics.repeatedPackets > 1_000)
    }

    @Test func `redundancy is not sent to a peer that does not support it`() throws {
        var rig = try RepairRig(RepairRig.configuration(.opus, frames: 960, repair: RTPRepair()))
        rig.way = lossy(0.05)
        try rig.run(until: 20)
        for end in rig.ends {
            #expect(end.statistics.redundancy == .none && end.statistics.repeatedPackets == 0)
            #expect(end.statistics.nacksSent == 0 && end.statistics.rtp.nacksReceived == 0)
            #expect(end.statistics.recoveredPackets == 0 && end.statistics.rtp.packetsIgnored == 0)
        }
        #expect(rig.ends[1].playout.statistics.depth < 0.006)
    }

    @Test func `a missing packet is requested if the delay allows it`() throws {
        var repair = RTPRepair()
        repair.repeated = 100
        (repair.takesNACK, repair.takesReports) = (true, true)
        var rig = try RepairRig(RepairRig.configuration(.pcm, frames: 128, repair: repair))
        // A path whose jitter makes playout hold 25 ms, with so few losses that nothing is repeated unasked.
        var random = SeededRandom(seed: 3)
        var count = 0
        rig.way = { end, datagram, seconds in
            count += 1
            let isMedia = !(192...223).contains(datagram[1])
            if end == 0, isMedia, datagram[1] & 0x7F == 97, seconds > 10, count % 4_001 == 0 { return nil }
            return 0.002 + (count % 97 == 0 ? 0.025 : 0.001 * random.unit())
        }
        try rig.run(until: 100)
        let (sender, receiver) = (rig.ends[0].statistics, rig.ends[1].statistics)
        #expect(receiver.rtp.packetsMissing >= 5)
        #expect(receiver.recoveredPackets >= receiver.rtp.packetsMissing - 1)
        #expect(sender.retransmittedPackets >= receiver.recoveredPackets && receiver.nacksSent > 0)
        #expect(sender.rtp.nacksReceived == receiver.nacksSent)
        #expect(sender.repeatedPackets == 0, "an answer is not counted as repeated unasked")
    }

    @Test func `no packet is requested if the round trip is longer than the delay`() throws {
        var rig = try RepairRig(RepairRig.configuration(.opus, frames: 480))
        rig.way = lossy(0.03, delay: 0.08)
        try rig.run(until: 20)
        #expect(rig.ends[1].statistics.nacksSent == 0 && rig.ends[1].statistics.recoveredPackets > 10)
    }

    // MARK: Wrong input

    @Test func `hostile packets do not disturb the call`() throws {
        var rig = try RepairRig(RepairRig.configuration(.pcm, frames: 128))
        var last: [UInt8] = []
        var forged = 0
        rig.way = { end, datagram, _ in
            if end == 0, datagram[1] & 0x7F == 97 { last = datagram }
            return 0.005
        }
        try rig.run(until: 1)
        let bodies: [[UInt8]] = [
            [], [0xE1], [0xE1, 0, 0, 1], [0xE1, 0, 3, 0xFF, 97, 1], [97], [0xE1, 0xFF, 0xFC, 2, 97, 1, 1],
            [0xE1, 0xFF, 0xFC, 2, 97, 1, 1, 2, 2],  // older than all that is known
            [0xE1, 0, 4, 2, 97, 1, 1, 2, 2],  // a frame before: between packets
            [0xE1, 0, 0, 2, 97, 1, 1, 2, 2],  // no age at all
            [0xE2, 2, 0, 2, 97, 1, 1, 2, 2],  // of another type
            [0x62, 1, 1],
        ]
        for round in 0..<200 {
            try rig.run(until: 1 + Double(round) * 0.01)
            let body = bodies[round % bodies.count]
            var packet = Array(last.prefix(12)) + body
            packet[1] = 99
            if round % 2 == 0 { packet[3] &+= 1 }
            if round % 5 == 0 { packet = Array(last.prefix(12)) + [UInt8(round), 7] + body }
            if round % 5 == 0 { (packet[1], packet[11]) = (100, packet[11] ^ 1) }
            forged += 1
            packet.withUnsafeBytes {
                rig.ends[1].core.receive(
                    $0, from: RepairRig.other, at: HostTime(nanoseconds: 5_000_000_000 + Int64(rig.now * 1e9)))
            }
        }
        try rig.run(until: 6)
        #expect(forged == 200)
        let before = rig.ends[1].playout.statistics.concealedFrames
        try rig.run(until: 10)
        #expect(rig.ends[1].playout.statistics.concealedFrames == before)
        #expect(rig.ends[1].playout.statistics.depth < 0.02)
    }

    @Test func `a flood of NACKs makes a sender retransmit each packet at most twice`() throws {
        var rig = try RepairRig(RepairRig.configuration(.pcm, frames: 128))
        try rig.run(until: 2)
        let before = rig.ends[0].statistics
        for step in 0..<2_000 {
            try rig.run(until: 2 + Double(step) * 0.001)
            // All possible numbers, including some that were never sent.
            var nack: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0x20, 0, 0x81, 205, 0, 8, 0, 0, 0x20, 0, 0, 0, 0x10, 0]
            for word in 0..<6 {
                let first = (step * 6 + word) * 17 & 0xFFFF
                nack += [UInt8(first >> 8), UInt8(first & 255), 0xFF, 0xFF]
            }
            nack.withUnsafeBytes {
                rig.ends[0].core.receive(
                    $0, from: RepairRig.other, at: HostTime(nanoseconds: 5_000_000_000 + Int64(rig.now * 1e9)))
            }
        }
        let after = rig.ends[0].statistics
        let sent = after.rtp.packetsSent - before.rtp.packetsSent
        #expect(after.rtp.nacksReceived - before.rtp.nacksReceived >= 1_900)
        #expect(after.retransmittedPackets <= 2 * (sent + PayloadHistory.capacity))
        #expect(after.retransmittedPackets > 0)
    }
}
