// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotCall
@testable import EarshotLiveCall

/// The estimate of a participant's clock in the status.
@Suite struct ClockDocumentTests {
    /// A participant whose clock is 7 s ahead and 20 ppm fast, for 5 s of packets that take 1 ms each way.
    private func reading() throws -> PeerClockReading {
        var meter = ClockMeter()
        func ahead(_ time: Int64) -> Int64 { time + 7_000_000_000 + time / 50_000 }
        for n in 1...50 as ClosedRange<Int64> {
            let arrived = n * 100_000_000
            meter.addPacket(
                sent: UInt32(truncatingIfNeeded: ahead(arrived - 1_000_000) / 1_000),
                arrived: HostTime(nanoseconds: arrived))
            let pair = TimeReport.Pair(
                sent: UInt32(truncatingIfNeeded: (arrived - 10_000_000) / 1_000), arrived: ahead(arrived - 9_000_000))
            meter.addReport(TimeReport(fastest: pair, typical: pair), at: HostTime(nanoseconds: arrived))
            _ = meter.takeReport(at: HostTime(nanoseconds: arrived))
        }
        return try #require(meter.reading)
    }

    @Test func `the status has the offset, rate and errors of a participant's clock`() throws {
        let clock = try #require(ClockDocument(reading()))
        #expect(abs(clock.offsetMs - 7_000.1) < 0.005, "\(clock)")
        #expect(abs(clock.ppm - 20) < 2, "\(clock)")
        #expect(clock.errorMs > 0 && clock.errorMs < 0.1, "\(clock)")
        #expect(clock.uncertaintyMs >= 1 && clock.uncertaintyMs < 1.2, "\(clock)")
    }

    @Test func `a participant's statistics have its clock, and none without an estimate`() throws {
        var statistics = StatusDocumentTests.statistics
        #expect(StatisticsDocument(statistics).clock == nil)
        statistics.media.clock = try reading()
        let document = StatisticsDocument(statistics)
        #expect(document.clock?.offsetMs == ClockDocument(try reading())?.offsetMs)
        #expect(CallJSON.decoded(StatisticsDocument.self, from: CallJSON.line(document)) == document)
    }
}
