// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Send times in packets, and the reports on them.
@Suite struct SendTimeTests {
    private func pair() -> (RTPSession, RTPSession) {
        var (a, b) = (session(ssrc: 0x10), session(ssrc: 0x20))
        (a.sendTimeID, b.sendTimeID) = (5, 5)
        (a.repair.repeated, b.repair.repeated) = (100, 100)
        return (a, b)
    }

    /// Returns a packet with this extension, its header included.
    private func packet(extension bytes: [UInt8]) -> [UInt8] {
        var packet = rawPacket(sequence: 1, ssrc: 0x10, payload: [7, 8, 9])
        packet[0] |= 0x10
        packet.insert(contentsOf: bytes, at: 12)
        return packet
    }

    @Test func `a packet carries its send time to a peer that negotiated it`() throws {
        var (a, b) = pair()
        let bytes = a.timed([1, 2, 3], sendTime: 0xFEDC_BA98)
        #expect(bytes.count == 12 + SendTimeExtension.size + 3)
        let media = try #require(b.take(bytes).media)
        #expect(media.sendTime == 0xFEDC_BA98 && media.payload == 24..<27)
        #expect(try #require(b.take(a.timed([1], sendTime: nil)).media).sendTime == nil)
        #expect(a.statistics.bytesSent == 4)
    }

    @Test func `a peer that did not negotiate send times takes the packet and ignores the time`() throws {
        var (a, b) = pair()
        b.sendTimeID = nil
        let media = try #require(b.take(a.timed([1, 2, 3], sendTime: 1)).media)
        #expect(media.sendTime == nil && media.payload == 24..<27)
        a.sendTimeID = nil
        #expect(a.timed([1, 2, 3], sendTime: 1).count == 15)
    }

    @Test func `a large payload and a retransmission have no send time`() throws {
        var (a, b) = pair()
        let limit = SendTimeExtension.maximumPayloadSize
        for (size, header) in [(limit, 24), (limit + 1, 12)] {
            let bytes = a.timed([UInt8](repeating: 0, count: size), sendTime: 1)
            #expect(bytes.count == size + header)
            #expect(try #require(b.take(bytes).media).sendTime == (header == 24 ? 1 : nil))
        }
        var again = [UInt8](repeating: 0, count: 64)
        let count = again.withMutableRawSpan {
            a.packetizeAgain([1, 2, 3 as UInt8].span.bytes, sequence: 100, position: 0, into: &$0)
        }
        #expect(count == 17 && again[0] == 0x80)
    }

    @Test func `the send time is found among other elements and padding`() throws {
        for bytes in [
            [0xBE, 0xDE, 0, 2, 0x53, 1, 2, 3, 4, 0, 0, 0],
            [0xBE, 0xDE, 0, 3, 0, 0x10, 9, 0, 0x53, 1, 2, 3, 4, 0, 0, 0],
            [0xBE, 0xDE, 0, 3, 0x12, 9, 9, 9, 0x53, 1, 2, 3, 4, 0x20, 9, 0],
        ] as [[UInt8]] {
            var (_, b) = pair()
            #expect(try #require(b.take(packet(extension: bytes)).media).sendTime == 0x0102_0304, "\(bytes)")
        }
    }

    @Test func `an extension that is malformed or another one gives no send time, and the packet counts`() throws {
        for bytes in [
            [0xBE, 0xDE, 0, 0],  // empty
            [0x10, 0x00, 0, 2, 5, 4, 1, 2, 3, 4, 0, 0],  // the two-byte form
            [0xBE, 0xDE, 0, 2, 0x43, 1, 2, 3, 4, 0, 0, 0],  // another element
            [0xBE, 0xDE, 0, 1, 0x52, 1, 2, 3],  // another size
            [0xBE, 0xDE, 0, 1, 0x53, 1, 2, 3],  // cut
            [0xBE, 0xDE, 0, 1, 0x1F, 1, 2, 3],  // an element that is longer than the extension
            [0xBE, 0xDE, 0, 2, 0xF0, 9, 0x53, 1, 2, 3, 4, 0],  // after the reserved identifier
            [0xBE, 0xDE, 0, 2, 0x01, 9, 0x53, 1, 2, 3, 4, 0],  // after padding with a length
        ] as [[UInt8]] {
            var (_, b) = pair()
            let media = try #require(b.take(packet(extension: bytes)).media)
            #expect(media.sendTime == nil, "\(bytes)")
            #expect(media.payload.count == 3)
        }
    }

    @Test func `a send time advances by the time that a packet waited`() throws {
        var (a, b) = pair()
        var bytes = a.timed([1, 2, 3], sendTime: .max)
        bytes.withMutableRawSpan { SendTimeExtension.advance(&$0, by: 5) }
        #expect(try #require(b.take(bytes).media).sendTime == 4)
        for other in [a.timed([UInt8](repeating: 0, count: 30), sendTime: nil), a.report(at: .seconds(1)), [0x90]] {
            var changed = other
            changed.withMutableRawSpan { SendTimeExtension.advance(&$0, by: 5) }
            #expect(changed == other)
        }
    }

    @Test func `a report returns times to the sender once`() {
        var (a, b) = pair()
        let report = TimeReport(
            fastest: .init(sent: .max, arrived: .min), typical: .init(sent: 3, arrived: .max))
        #expect(a.take(b.times(report)) == .report)
        #expect(a.takeTimeReport() == report)
        #expect(a.takeTimeReport() == nil)
        a.sendTimeID = nil
        #expect(a.take(b.times(report)) == .report && a.takeTimeReport() == nil)
        b.sendTimeID = nil
        #expect(b.times(report).isEmpty)
    }

    @Test func `another application packet is no report on times`() {
        let report = TimeReport(fastest: .init(sent: 1, arrived: 2), typical: .init(sent: 3, arrived: 4))
        var (a, b) = pair()
        let bytes = b.times(report)
        let start = bytes.count - 36
        for place in [start, start + 7, start + 8] {  // subtype, source, name
            var other = bytes
            other[place] ^= 1
            #expect(a.take(other) == .report && a.takeTimeReport() == nil)
        }
        var short = Array(bytes.dropLast(4))
        short[start + 3] -= 1
        #expect(a.take(short) == .report && a.takeTimeReport() == nil)
        #expect(a.take(bytes) == .report && a.takeTimeReport() == report)
    }

    @Test func `a report has the transit times that it had, and a peer that does not know them the rest`() {
        var (a, b) = pair()
        var report = TimeReport(fastest: .init(sent: 1, arrived: 2), typical: .init(sent: 3, arrived: 4))
        for count in [1, 2, 95, TimeReport.maximumTransitCount] {
            report.transits = (0..<count).map { UInt16(300 * $0) }
            #expect(a.take(b.times(report)) == .report && a.takeTimeReport() == report)
        }
        var bytes = b.times(report)
        let start = bytes.count - 12 - 2 * report.transits.count
        var without = report
        without.transits = []
        for place in [start, start + 7, start + 8] {  // subtype, source, name
            var other = bytes
            other[place] ^= 2
            #expect(a.take(other) == .report && a.takeTimeReport() == without)
        }
        // Two more than may be.
        bytes += [0, 0, 0, 0]
        bytes[start + 3] += 1
        #expect(a.take(bytes) == .report && a.takeTimeReport() == without)
        // Without the times that they belong to.
        var alone = Array(bytes.prefix(start - 36) + bytes.suffix(from: start))
        alone.removeLast(4)
        alone[start - 36 + 3] -= 1
        #expect(a.take(alone) == .report && a.takeTimeReport() == nil)
    }

    /// Random extensions of packets and random reports.
    @Test func `any extension and any report leave a session that works`() {
        var random = SeededRandom(seed: 11)
        let (a, b) = pair()
        let bases = [
            packet(extension: [0xBE, 0xDE, 0, 3, 0, 0x10, 9, 0, 0x53, 1, 2, 3, 4, 0, 0, 0]),
            b.times(
                TimeReport(
                    fastest: .init(sent: 1, arrived: 2), typical: .init(sent: 3, arrived: 4), transits: [5, 6, 7])),
        ]
        var (timed, reported) = (0, 0)
        for n in 0..<100_000 {
            var bytes = bases[n % 2]
            let from = n % 2 == 0 ? 12 : bytes.count - 56
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: from..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if n % 8 < 2 { bytes.removeLast(Int.random(in: 0..<24, using: &random)) }
            bytes.withMutableRawSpan { SendTimeExtension.advance(&$0, by: 1) }
            // Each takes the other's packets.
            var (first, second) = (a, b)
            if first.take(bytes).media?.sendTime != nil || second.take(bytes).media?.sendTime != nil { timed += 1 }
            if first.takeTimeReport() != nil { reported += 1 }
        }
        #expect(timed > 1_000 && reported > 1_000)
    }
}

extension RTPSession {
    mutating func timed(_ payload: [UInt8], sendTime: UInt32?) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: payload.count + 24)
        let count = payload.withUnsafeBytes { payload in
            bytes.withMutableRawSpan {
                packetize(
                    payload.bytes, position: 0, marker: false, isRedundant: false, isFallbackCodec: false,
                    sendTime: sendTime, at: .seconds(0), into: &$0)
            }
        }
        return Array(bytes.prefix(count))
    }

    func times(_ report: TimeReport) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: Self.maximumReportSize)
        let count = bytes.withMutableRawSpan { writeTimeReport(report, into: &$0) }
        return Array(bytes.prefix(count))
    }
}
