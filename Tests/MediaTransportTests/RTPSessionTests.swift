// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

@Suite struct RTPSessionTests {
    @Test func positionsAndSequencesSurviveBothWraps() throws {
        var from = session(sequence: 65_000, timestamp: .max - 10_000)
        var to = session(ssrc: 2)
        for n in 0..<3_000 {
            let bytes = from.packet(position: 7 + n * 480, marker: n == 0, at: .seconds(Double(n) / 100))
            let media = try #require(to.take(bytes, at: .seconds(Double(n) / 100 + 0.02)).media)
            #expect(media.sequenceNumber == 65_000 + n)
            #expect(media.position == n * 480)
            #expect(media.startsSource == (n == 0) && media.marker == (n == 0))
            #expect(media.payload == 12..<15)
        }
        #expect(to.statistics.packetsReceived == 3_000 && to.statistics.bytesReceived == 9_000)
        #expect(from.statistics.packetsSent == 3_000 && from.statistics.bytesSent == 9_000)
        #expect(to.statistics.packetsLost == 0 && to.statistics.jitter < 1e-6)
    }

    @Test func timestampUnwrapsOverManyCycles() throws {
        var to = session()
        var stamp: UInt32 = 4_000_000_000
        for n in 0..<20 {
            let media = try #require(to.take(rawPacket(sequence: UInt16(n), timestamp: stamp)).media)
            #expect(media.position == n * 2_000_000_000)
            stamp &+= 2_000_000_000
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func lossReorderAndDuplicatesAreCountedExactly(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var from = session(sequence: 65_300)
        var to = session(ssrc: 2)
        var dropped = 0
        var copies = 0
        var swapped = 0
        var held: [UInt8]?
        for n in 0..<2_000 {
            let bytes = from.packet(position: n * 64, at: .seconds(0))
            let draw = n == 0 || n == 1_999 ? 1 : random.unit()
            if draw < 0.05 && held == nil {
                dropped += 1
            } else if draw < 0.1 && held == nil && n < 1_998 {
                held = bytes
            } else {
                #expect(to.take(bytes).media != nil)
                if let late = held {
                    #expect(to.take(late).media?.startsSource == false)
                    swapped += 1
                    held = nil
                }
                if draw < 0.2 {
                    #expect(to.take(bytes) == .ignored(.duplicate))
                    copies += 1
                }
            }
        }
        let statistics = to.statistics
        #expect(dropped > 50 && copies > 100 && swapped > 50)
        #expect(statistics.packetsExpected == 2_000)
        #expect(statistics.packetsMissing == dropped)
        #expect(statistics.packetsLost == dropped - copies)
        #expect(statistics.packetsDuplicate == copies && statistics.packetsIgnored == copies)
        #expect(statistics.packetsReordered == swapped)
        #expect(statistics.packetsReceived == 2_000 - dropped)
    }

    @Test func strangersAreIgnoredAndCounted() {
        var to = session(ssrc: 1)
        #expect(to.take(rawPacket(sequence: 1, ssrc: 2)).media?.startsSource == true)
        #expect(to.take(rawPacket(sequence: 2, ssrc: 3)) == .ignored(.otherSource(3)))
        #expect(to.take(rawPacket(sequence: 2, ssrc: 1)) == .ignored(.ownSource))
        #expect(to.take(rawPacket(sequence: 2, payloadType: 0)) == .ignored(.payloadType(0)))
        #expect(to.take([]) == .ignored(.malformed(.tooShort(0))))
        #expect(to.take([0x80, 0x60]) == .ignored(.malformed(.tooShort(2))))
        #expect(to.take([0x80, 200]) == .ignored(.malformed(.tooShort(2))))
        #expect(to.statistics.packetsIgnored == 6 && to.statistics.packetsReceived == 1)
    }

    @Test func lastHeardIsOfThePeerOnly() {
        var to = session(ssrc: 1)
        #expect(to.lastHeard == nil)
        _ = to.take(rawPacket(sequence: 1, ssrc: 2), at: .seconds(1))
        _ = to.take(rawPacket(sequence: 2, ssrc: 3), at: .seconds(2))
        #expect(to.lastHeard == .seconds(1))
        var peer = session(ssrc: 2)
        _ = to.take(peer.report(at: .seconds(3)), at: .seconds(3))
        #expect(to.lastHeard == .seconds(3))
    }

    @Test func sourceThatStartsOverIsANewSource() throws {
        var to = session()
        for n in 0..<10 { _ = to.take(rawPacket(sequence: UInt16(n), timestamp: UInt32(n) * 100)) }
        #expect(to.take(rawPacket(sequence: 30_000, timestamp: 77)) == .ignored(.sequenceJump))
        let media = try #require(to.take(rawPacket(sequence: 30_001, timestamp: 177)).media)
        #expect(media.startsSource && media.sequenceNumber == 30_001 && media.position == 0)
        #expect(to.take(rawPacket(sequence: 30_002, timestamp: 277)).media?.position == 100)
        #expect(to.statistics.restarts == 1)
        #expect(to.statistics.packetsReceived == 12 && to.statistics.packetsExpected == 12)
    }

    @Test func jitterFollowsAppendixA8() {
        var to = session(clockRate: 8_000)
        var expected = 0.0
        var last = 0.0
        for n in 0..<200 {
            let delay = n % 2 == 0 ? 0.0 : 0.005
            _ = to.take(
                rawPacket(sequence: UInt16(n), timestamp: UInt32(n) * 160), at: .seconds(Double(n) * 0.02 + delay))
            if n > 0 { expected += (abs(delay - last) - expected) / 16 }
            last = delay
        }
        #expect(abs(to.statistics.jitter - expected) < 1e-6)
        #expect(abs(to.statistics.jitter - 0.005) < 1e-4)
    }

    @Test func `renegotiation continues the same source, its sequence numbers, timestamps and counts`() throws {
        var from = session(sequence: 65_534, timestamp: .max - 100)
        var to = session(ssrc: 2)
        for n in 0..<4 {
            _ = try #require(to.take(from.packet(position: n * 480, at: .seconds(Double(n) / 100))).media)
        }
        from.renegotiate(payloadType: 99, clockRate: 8_000)
        to.renegotiate(payloadType: 99, clockRate: 8_000)
        // The report leaves out packets that have not been sent yet.
        let report = from.report(at: .seconds(0.9))
        #expect(to.take(report, at: .seconds(0.9)) == .report)
        let first = from.packet(position: 70_000, at: .seconds(1.03))
        let media = try #require(to.take(first, at: .seconds(1.03)).media)
        #expect(media.startsSource && media.sequenceNumber == 2 && media.position == 0)
        // The fourth was at 0.03 s, 1440 ticks later; the fifth is one second of the new clock later.
        #expect(
            try first.withUnsafeBytes { try RTPPacket(parsing: $0.bytes) }.timestamp == UInt32.max - 100 &+ 1_440
                &+ 8_000)
        let next = try #require(to.take(from.packet(position: 70_080, at: .seconds(1.04))).media)
        #expect(next.sequenceNumber == 3 && next.position == 80 && !next.startsSource)
        #expect(from.statistics.packetsSent == 6)
        #expect(to.statistics.packetsReceived == 6 && to.statistics.packetsMissing == 0 && to.statistics.restarts == 0)
    }
}
