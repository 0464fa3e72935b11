// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Packets that are requested again, and reports of losses.
@Suite struct RTPRepairTests {
    private func pair() -> (RTPSession, RTPSession) {
        var (a, b) = (session(ssrc: 0x10), session(ssrc: 0x20, sequence: 65_530))
        var repair = RTPRepair()
        repair.redundant = 99
        repair.repeated = 100
        (repair.takesNACK, repair.takesReports) = (true, true)
        a.repair = repair
        b.repair = repair
        return (a, b)
    }

    private func nack(_ session: RTPSession, _ missing: [Int]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: RTPSession.maximumNACKSize)
        let count = bytes.withMutableRawSpan { session.writeNACK(of: missing, into: &$0) }
        return Array(bytes.prefix(count))
    }

    private func again(_ session: inout RTPSession, _ payload: [UInt8], sequence: UInt16, position: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: payload.count + 14)
        let count = payload.withUnsafeBytes { payload in
            bytes.withMutableRawSpan {
                session.packetizeAgain(payload.bytes, sequence: sequence, position: position, into: &$0)
            }
        }
        return Array(bytes.prefix(count))
    }

    @Test func `a NACK is laid out according to RFC 4585`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        let bytes = nack(b, [104, 105, 120, 121, 65_536 + 3])
        #expect(bytes.prefix(8) == [0x80, 201, 0, 1, 0, 0, 0, 0x20], "an empty report first")
        #expect(bytes[8..<12] == [0x81, 202, 0, 4])
        #expect(
            bytes.suffix(24) == [
                0x81, 205, 0, 5, 0, 0, 0, 0x20, 0, 0, 0, 0x10,
                0, 104, 0x80, 0x01, 0, 121, 0, 0, 0, 3, 0, 0,
            ])
        #expect(a.take(bytes) == .report && a.statistics.nacksReceived == 1)
        #expect(Array(a.takeRequestedNumbers()) == [104, 105, 120, 121, 3])
        #expect(Array(a.takeRequestedNumbers()).isEmpty, "each is asked for once")
    }

    @Test func `a NACK from or for a foreign source is ignored`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        _ = a.take(b.packet(position: 0, at: .seconds(0)))
        var bytes = nack(b, [104])
        bytes[bytes.count - 5] ^= 1  // another's packets
        #expect(a.take(bytes) == .report && Array(a.takeRequestedNumbers()).isEmpty)
        bytes = nack(b, [104])
        bytes[7] ^= 2  // another's report
        #expect(a.take(bytes) == .ignored(.otherSource(0x22)) && Array(a.takeRequestedNumbers()).isEmpty)
    }

    @Test func `a flood of requested sequence numbers is limited to 64`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        let all = nack(b, Array(0..<64))
        var flood = Array(all.prefix(all.count - 16))
        let words = (0..<200).flatMap { n -> [UInt8] in [UInt8(n), 0, 0xFF, 0xFF] }
        let header = flood.count - 12
        flood += words
        let length = (12 + words.count) / 4 - 1
        (flood[header + 2], flood[header + 3]) = (UInt8(length >> 8), UInt8(length & 255))
        for _ in 0..<3 { #expect(a.take(flood) == .report) }
        #expect(Array(a.takeRequestedNumbers()).count == 64)
    }

    @Test func `no NACK is sent to a peer that does not support it`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        b.repair.takesNACK = false
        #expect(nack(b, [104]).isEmpty)
    }

    @Test func `a retransmission keeps the sequence number and timestamp of the original`() throws {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        let lost = a.packet([4, 5, 6], position: 480, at: .seconds(0.01))
        _ = b.take(a.packet(position: 960, at: .seconds(0.02)))
        let bytes = again(&a, [4, 5, 6], sequence: 101, position: 480)
        #expect(bytes[0] == 0x80 && bytes[1] == 100 && Array(bytes[4..<8]) == Array(lost[4..<8]))
        #expect(bytes[8..<12] == [0, 0, 0, 0x11] && Array(bytes[12...]) == [0, 101, 4, 5, 6])
        guard case .repeated(let media) = b.take(bytes) else { return #expect(Bool(false), "not taken") }
        #expect(media.sequenceNumber == 101 && media.position == 480 && media.payload == 14..<17)
        #expect(!media.startsSource)
        // Reports do not change: the packet was lost.
        #expect(b.statistics.packetsLost == 1 && b.statistics.packetsDuplicate == 0)
        let second = again(&a, [4, 5, 6], sequence: 101, position: 480)
        #expect(second[2...3] != bytes[2...3], "under a number of its own: SRTP protects none twice")
    }

    @Test func `a retransmission can arrive before any packet newer than the lost one`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        guard case .repeated(let media) = b.take(again(&a, [4], sequence: 101, position: 480)) else {
            return #expect(Bool(false), "not taken")
        }
        #expect(media.sequenceNumber == 101 && media.position == 480)
        #expect(b.statistics.packetsLost == 0, "it says nothing of the stream")
        #expect(b.take(a.packet(position: 480, at: .seconds(0.01))).media?.sequenceNumber == 101)
    }

    @Test func `a retransmission of an unsent packet or from another source is rejected`() {
        var (a, b) = pair()
        let early = again(&a, [1], sequence: 100, position: 0)
        #expect(b.take(early) == .ignored(.otherSource(0x11)), "nobody is known yet")
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        #expect(b.take(again(&a, [1], sequence: 105, position: 2400)) == .ignored(.sequenceJump), "far ahead of all")
        #expect(b.take(rawPacket(sequence: 1, ssrc: 0x11, payloadType: 100, payload: [0])) == .ignored(.sequenceJump))
        let stranger = rawPacket(sequence: 1, ssrc: 0x31, payloadType: 100, payload: [0, 100, 1])
        #expect(b.take(stranger) == .ignored(.otherSource(0x31)))
        b.repair = RTPRepair()
        #expect(b.take(again(&a, [1], sequence: 100, position: 0)) == .ignored(.payloadType(100)))
    }

    @Test func `redundant packets belong to the same source`() throws {
        var (a, b) = pair()
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = [5, 1 as UInt8].withUnsafeBytes { payload in
            bytes.withMutableRawSpan {
                a.packetize(payload.bytes, position: 0, marker: true, isRedundant: true, at: .seconds(0), into: &$0)
            }
        }
        #expect(bytes[1] == 0x80 | 99)
        let first = try #require(b.take(Array(bytes.prefix(count))).media)
        #expect(first.isRedundant && first.startsSource)
        let next = try #require(b.take(a.packet(position: 480, at: .seconds(0.01))).media)
        #expect(!next.isRedundant && next.sequenceNumber == first.sequenceNumber + 1)
    }

    // MARK: Reports of losses

    @Test func `a report describes the pattern of losses`() throws {
        var (a, b) = pair()
        let lost: Set<Int> = [10, 11, 12, 40, 60, 61]
        for n in 0..<200 {
            let bytes = a.packet(position: n * 480, at: .seconds(Double(n) / 100))
            if !lost.contains(n) { _ = b.take(bytes, at: .seconds(Double(n) / 100)) }
        }
        b.hold = PlayoutHold(seconds: 0.021, limit: 0.08)
        #expect(a.take(b.report(at: .seconds(2)), at: .seconds(2)) == .report)
        let reported = a.takeLossPattern()
        let pattern = try #require(reported)
        #expect(pattern.lost == 6 && pattern.bursts == 3 && pattern.outages == 0)
        #expect(pattern.expected == 200 - LossRecord.unreportedCount)
        #expect(a.takeLossPattern() == nil)
        #expect(a.remoteHold == PlayoutHold(seconds: 0.021, limit: 0.08))
        // The next report covers the packets since.
        for n in 200..<300 { _ = b.take(a.packet(position: n * 480, at: .seconds(3))) }
        _ = a.take(b.report(at: .seconds(3)), at: .seconds(3))
        #expect(a.takeLossPattern() == LossPattern(expected: 100, lost: 0, bursts: 0))
    }

    @Test func `an outage of any length is counted separately from losses`() throws {
        for length in [LossPattern.longestBurst + 1, 900, 2_500] {
            var (a, b) = pair()
            for n in 0..<1_000 + length {
                let bytes = a.packet(position: n * 480, at: .seconds(0))
                if !(100..<100 + length).contains(n) { _ = b.take(bytes) }
            }
            _ = a.take(b.report(at: .seconds(2)), at: .seconds(2))
            let reported = a.takeLossPattern()
            let pattern = try #require(reported)
            #expect(pattern.lost == 0 && pattern.outages == 1)
            #expect(pattern.expected <= 1_000)
        }
    }

    @Test func `a reordered packet is not counted as lost`() throws {
        var (a, b) = pair()
        var held: [UInt8]?
        for n in 0..<100 {
            let bytes = a.packet(position: n * 480, at: .seconds(0))
            if n == 50 { held = bytes } else { _ = b.take(bytes) }
            if n == 53 { _ = b.take(held ?? []) }
        }
        _ = a.take(b.report(at: .seconds(1)), at: .seconds(1))
        let reported = a.takeLossPattern()
        #expect(reported?.lost == 0)
    }

    @Test func `alternating losses fill one report, and the rest follows in the next`() throws {
        var (a, b) = pair()
        for n in 0..<2_000 {
            let bytes = a.packet(position: n * 480, at: .seconds(0))
            if n % 2 == 0 { _ = b.take(bytes) }
        }
        let first = b.report(at: .seconds(1))
        #expect(first.count <= RTPSession.maximumReportSize)
        _ = a.take(first)
        let reported = a.takeLossPattern()
        let one = try #require(reported)
        #expect(one.expected == 15 * ExtendedReport.maximumChunkCount)
        _ = a.take(b.report(at: .seconds(2)))
        let rest = a.takeLossPattern()
        let two = try #require(rest)
        #expect(one.expected + two.expected == 1_999 - LossRecord.unreportedCount)
        #expect(abs(one.lost + two.lost - 997) <= 1 && one.bursts == one.lost)
    }

    @Test func `without extended reports, counts give the loss ratio and NACKs give the bursts`() throws {
        var (a, b) = pair()
        a.repair.takesReports = false
        b.repair.takesReports = false
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        _ = a.take(b.report(at: .seconds(0)))
        for n in 1...100 {
            let bytes = a.packet(position: n * 480, at: .seconds(0))
            if ![20, 21, 60].contains(n) { _ = b.take(bytes) }
        }
        _ = a.take(nack(b, [120, 121, 160]))
        _ = a.take(b.report(at: .seconds(1)))
        #expect(a.takeLossPattern() == LossPattern(expected: 100, lost: 3, bursts: 2))
        for n in 101...200 {
            let bytes = a.packet(position: n * 480, at: .seconds(0))
            if n != 150 { _ = b.take(bytes) }
        }
        _ = a.take(b.report(at: .seconds(2)))
        #expect(a.takeLossPattern() == LossPattern(expected: 100, lost: 1, bursts: 1))
    }

    @Test func `random bytes instead of a report yield only plausible values`() {
        var random = SeededRandom(seed: 9)
        var (a, b) = pair()
        _ = a.take(b.packet(position: 0, at: .seconds(0)))
        for n in 0..<64 where n % 3 != 1 { _ = b.take(a.packet(position: n * 480, at: .seconds(0))) }
        b.hold = PlayoutHold(seconds: 0.02, limit: 0.1)
        let bases = [b.report(at: .seconds(1)), nack(b, [101, 104, 130])]
        var taken = 0
        for n in 0..<100_000 {
            if a.take(mutated(bases[n % 2], &random)) == .report { taken += 1 }
            if let pattern = a.takeLossPattern() {
                #expect((0...pattern.expected).contains(pattern.lost) && pattern.bursts <= pattern.lost)
                #expect(pattern.expected <= 65_535)
            }
            #expect(Array(a.takeRequestedNumbers()).count <= 64)
        }
        #expect(taken > 1_000)
    }
}
