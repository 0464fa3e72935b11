// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotMediaTransport

@Suite struct RTPSessionReportTests {
    @Test func senderReportIsLaidOutAsInSection641() throws {
        var from = session(ssrc: 0x0102_0304, clockRate: 48_000, timestamp: 1_000)
        _ = from.packet(position: 480, at: .seconds(10))
        let bytes = from.report(at: .seconds(10.5))
        #expect(bytes.prefix(8) == [0x80, 200, 0, 6, 1, 2, 3, 4])
        #expect(bytes[8..<16] == [0, 0, 0, 10, 0x80, 0, 0, 0], "host time as NTP fixed point")
        let stamp = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
        #expect(stamp == 1_000 + 480 + 24_000, "the instant of the NTP time in media time")
        #expect(bytes[20..<28] == [0, 0, 0, 1, 0, 0, 0, 3])
        let name = Array("name16909060".utf8)
        #expect(bytes[28..<38] == [0x81, 202, 0, 5, 1, 2, 3, 4, 1, UInt8(name.count)])
        #expect(Array(bytes[38..<50]) == name && bytes[50...].allSatisfy { $0 == 0 } && bytes.count == 52)
    }

    @Test(arguments: [0.0, 0.0004, 0.030, 2.5])
    func roundTripOnVirtualTime(oneWay: Double) throws {
        var a = session(ssrc: 1)
        var b = session(ssrc: 2)
        // The clocks of a and b differ by 1,000 s, as on two machines; both cross a wrap of 2^16 s.
        let t = 65_535.2
        _ = b.take(a.packet(position: 0, at: .seconds(t)), at: .seconds(t + oneWay + 1_000))
        _ = b.take(a.report(at: .seconds(t + 0.5)), at: .seconds(t + 0.5 + oneWay + 1_000))
        let held = 0.7
        let reply = b.report(at: .seconds(t + 0.5 + oneWay + held + 1_000))
        #expect(reply[1] == 201, "b has sent nothing")
        #expect(a.take(reply, at: .seconds(t + 0.5 + 2 * oneWay + held)) == .report)
        let roundTrip = try #require(a.statistics.roundTrip)
        #expect(abs(roundTrip - 2 * oneWay) < 4.0 / 65_536)
        #expect(b.statistics.roundTrip == nil)
        #expect(b.peerCanonicalName == "name1" && a.peerCanonicalName == "name2")
    }

    @Test func remoteLossAndJitterAreReported() throws {
        var a = session(ssrc: 1)
        var b = session(ssrc: 2)
        for n in 0..<100 {
            let bytes = a.packet(position: n * 480, at: .seconds(Double(n) / 100))
            if n % 10 != 5 { _ = b.take(bytes, at: .seconds(Double(n) / 100 + (n % 2 == 0 ? 0.004 : 0))) }
        }
        _ = a.take(b.report(at: .seconds(1)), at: .seconds(1))
        let remote = try #require(a.statistics.remote)
        #expect(remote.cumulativeLost == 10)
        #expect(remote.fractionLost == 25.0 / 256)
        #expect(abs(remote.jitter - b.statistics.jitter) < 1.0 / 48_000 && remote.jitter > 0.003)
        // Each report can be taken once, even if packets without reports follow.
        #expect(a.takeReport() == remote && a.takeReport() == nil && a.statistics.remote == remote)
    }

    @Test func moreCopiesThanLossesReadAsNegative() throws {
        var a = session(ssrc: 1)
        var b = session(ssrc: 2)
        let bytes = a.packet(position: 0, at: .seconds(0))
        for _ in 0..<4 { _ = b.take(bytes) }
        _ = a.take(b.report(at: .seconds(1)), at: .seconds(1))
        #expect(a.statistics.remote == RemoteReport(fractionLost: 0, cumulativeLost: -3, jitter: 0))
    }

    @Test func reportsAreDueEachSecondOnceTrafficBegan() {
        var a = session()
        #expect(a.nextReportTime == nil)
        _ = a.packet(position: 0, at: .seconds(5))
        #expect(a.nextReportTime == .seconds(5.5))
        _ = a.report(at: .seconds(5.51))
        #expect(a.nextReportTime == .seconds(6.51))
    }

    @Test func senderTurnsReceiverAfterTwoQuietIntervals() {
        var a = session()
        _ = a.packet(position: 0, at: .seconds(0))
        #expect((1...4).map { a.report(at: .seconds(Double($0)))[1] } == [200, 200, 201, 201])
    }

    @Test func goodbyeComesAfterAReport() {
        var a = session(ssrc: 1)
        var b = session(ssrc: 2)
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        let bytes = a.bye(at: .seconds(1))
        #expect(bytes.suffix(8) == [0x81, 203, 0, 1, 0, 0, 0, 1])
        #expect(b.take(bytes, at: .seconds(1)) == .goodbye)
        #expect(session(ssrc: 9).refusal(of: 1) == nil)
    }

    @Test func reportsOfStrangersChangeNothing() {
        var a = session(ssrc: 1)
        var b = session(ssrc: 2)
        var c = session(ssrc: 3)
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        #expect(b.take(c.bye(at: .seconds(1)), at: .seconds(1)) == .ignored(.otherSource(3)))
        #expect(b.peerCanonicalName == "")
    }

    @Test(arguments: [0, 1, 2, 3, 255])
    func longestNameFits(length: Int) {
        let name = String(repeating: "x", count: length)
        var a = RTPSession(
            ssrc: 1, cname: name, payloadType: 96, clockRate: 48_000, firstSequenceNumber: 0, firstTimestamp: 0)
        var b = session(ssrc: 2)
        _ = a.take(rawPacket(sequence: 0))
        _ = a.packet(position: 0, at: .seconds(0))
        let bytes = a.bye(at: .seconds(1))
        #expect(bytes.count % 4 == 0 && bytes.count <= RTPSession.maximumReportSize)
        #expect(b.take(bytes) == .goodbye)
        #expect(b.peerCanonicalName == name)
    }

    @Test(
        arguments: [
            ([0x80, 203, 0, 1, 0, 0, 0, 1], RTPError.noReportFirst),  // BYE alone
            ([0xA0, 201, 0, 1, 0, 0, 0, 4], .noReportFirst),  // padded first
            ([0x40, 201, 0, 1, 0, 0, 0, 2], .wrongVersion(1)),
            ([0x80, 201, 0, 2, 0, 0, 0, 2], .badReportLength),
            ([0x81, 201, 0, 1, 0, 0, 0, 2], .badReportLength),  // a block announced, none there
            ([0x80, 200, 0, 1, 0, 0, 0, 2], .badReportLength),
            ([0x80, 201, 0, 1, 0, 0, 0, 2, 0x80], .badReportLength),
            ([0x80, 201, 0, 1, 0, 0, 0, 2, 0xA0, 202, 0, 1, 0, 0, 0, 9], .badPadding),
        ] as [([UInt8], RTPError)])
    func brokenCompoundsAreErrors(bytes: [UInt8], error: RTPError) {
        var a = session()
        #expect(a.take(bytes) == .ignored(.malformed(error)))
    }
}
