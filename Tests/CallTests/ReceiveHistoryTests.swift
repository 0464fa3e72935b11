// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotCall

@Suite struct ReceptionLogTests {
    private func at(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Returns a log after packets of 480 frames every 10 ms, without these numbers.
    private func log(_ numbers: Range<Int>, without missing: Set<Int>) -> ReceiveHistory {
        var log = ReceiveHistory(clockRate: 48_000)
        for n in numbers where !missing.contains(n) {
            #expect(log.arrive(n, position: n * 480, frameCount: 480, at: at(Double(n) / 100)) == .new)
        }
        return log
    }

    private func asked(_ log: inout ReceiveHistory, _ seconds: Double, roundTrip: Double? = 0.004, hold: Double = 0.1)
        -> [Int]
    {
        var numbers = [99]
        log.due(at: at(seconds), roundTrip: roundTrip, hold: hold, into: &numbers)
        return numbers
    }

    @Test func `the position of a missing block gives its sequence number`() {
        let log = log(0..<20, without: [5, 10, 11, 12])
        #expect(log.missing(at: 5 * 480, frameCount: 480) == 5)
        #expect([10, 11, 12].map { log.missing(at: $0 * 480, frameCount: 480) } == [10, 11, 12])
        #expect(log.missing(at: 6 * 480, frameCount: 480) == nil, "it has come")
        for position in [-480, 20 * 480, 5 * 480 + 1, 5 * 480 - 1, 1 << 40, -1 << 40] {
            #expect(log.missing(at: position, frameCount: 480) == nil, "\(position)")
        }
    }

    @Test func `missing packets of unequal lengths are identified by their neighbours`() {
        var log = ReceiveHistory(clockRate: 48_000)
        let lengths = [300, 301, 300, 301, 300, 301]
        var position = 0
        for (n, length) in lengths.enumerated() {
            if n == 0 || n == 5 { _ = log.arrive(n, position: position, frameCount: length, at: at(0)) }
            position += length
        }
        #expect(log.missing(at: 300, frameCount: 301) == 1)
        #expect(log.missing(at: 601, frameCount: 300) == 2)
        #expect(log.missing(at: 901, frameCount: 301) == 3)
        #expect(log.missing(at: 1_202, frameCount: 300) == 4)
    }

    @Test func `a packet that arrives after its recovery is a duplicate, and one that is only late is new`() {
        var log = log(0..<20, without: [5])
        let unasked = log.recover(5, position: 5 * 480, frameCount: 480)
        #expect(!unasked)
        #expect(log.missing(at: 5 * 480, frameCount: 480) == nil && !log.isMissing(5))
        #expect(log.arrive(5, position: 5 * 480, frameCount: 480, at: at(0.3)) == .had)
        var other = self.log(0..<20, without: [5])
        #expect(other.arrive(5, position: 5 * 480, frameCount: 480, at: at(0.3)) == .new, "overtaken")
        #expect(!other.isMissing(5))
    }

    @Test func `a copy that arrives first replaces its packet, and reveals missing packets before it`() {
        var log = log(0..<10, without: [])
        #expect(!log.isMissing(11))
        log.expect(11, position: 11 * 480, at: at(0.11))
        #expect(log.isMissing(11) && log.isMissing(10))
        #expect(log.recover(11, position: 11 * 480, frameCount: 480) == false)
        #expect(log.arrive(11, position: 11 * 480, frameCount: 480, at: at(0.112)) == .had)
        #expect(log.missing(at: 10 * 480, frameCount: 480) == 10)
        log.expect(11 + RedundancyPlan.longest + 1, position: 0, at: at(0.12))
        #expect(!log.isMissing(11 + RedundancyPlan.longest + 1), "no copy is so far ahead")
    }

    @Test func `a gap is requested after the reordering time, and once more`() {
        var log = log(0..<7, without: [5])
        #expect(log.nextRequestTime == at(0.06 + ReceiveHistory.reorderingTime))
        #expect(asked(&log, 0.0605).isEmpty)
        #expect(asked(&log, 0.062) == [5])
        #expect(asked(&log, 0.0635).isEmpty, "not at once")
        #expect(asked(&log, 0.08) == [5])
        #expect(asked(&log, 0.12).isEmpty && log.nextRequestTime == nil, "twice is enough")
        let wasRequested = log.recover(5, position: 2_400, frameCount: 480)
        #expect(wasRequested)
    }

    @Test func `packets that the remote peer does not keep are not requested`() {
        var log = log(0..<7, without: [5])
        log.isKept = false
        #expect(asked(&log, 0.062).isEmpty && log.nextRequestTime == nil)
    }

    @Test func `packets that could not arrive in time are not requested`() {
        var log = log(0..<7, without: [5])
        #expect(asked(&log, 0.062, hold: 0.017).isEmpty, "12 ms late, and 4 to come")
        #expect(asked(&log, 0.062, roundTrip: nil).isEmpty)
        #expect(asked(&log, 0.062, roundTrip: 0.2).isEmpty)
        #expect(asked(&log, 0.062, hold: 0.019) == [5])
    }

    @Test func `a peer that sends redundancy gets requests only for packets not covered by it`() {
        var log = log(0..<7, without: [5])
        log.recordRepetition(of: 2, by: 6)
        #expect(asked(&log, 0.065).isEmpty, "packet 7 will carry it")
        _ = log.arrive(7, position: 7 * 480, frameCount: 480, at: at(0.07))
        #expect(asked(&log, 0.075) == [5])
    }

    @Test func `requests are at least 5 ms apart and contain at most 64 packets`() {
        var log = ReceiveHistory(clockRate: 48_000)
        var count = 0
        var last = -1.0
        for step in 0..<4_000 {
            let now = Double(step) / 1_000
            // Every other packet is lost.
            _ = log.arrive(2 * step, position: 2 * step * 24, frameCount: 24, at: at(now))
            let numbers = asked(&log, now, roundTrip: 0.001, hold: 1)
            #expect(numbers.count <= 64 && numbers == numbers.sorted())
            guard !numbers.isEmpty else { continue }
            count += 1
            #expect(now - last > 0.0049)
            last = now
        }
        #expect(count > 100)
    }

    @Test func `packets before an outage, of another source and the oldest ones are forgotten`() {
        var log = log(0..<7, without: [5])
        _ = log.arrive(200, position: 200 * 480, frameCount: 480, at: at(2))
        #expect(!log.isMissing(5) && !log.isMissing(100))
        var numbers = asked(&log, 2.1)
        #expect(numbers.isEmpty)
        log.restart()
        #expect(log.arrive(3, position: 0, frameCount: 480, at: at(3)) == .new)
        numbers = asked(&log, 3.1)
        #expect(numbers.isEmpty)
        for n in 4..<2_000 where n != 6 { _ = log.arrive(n, position: n * 480, frameCount: 480, at: at(3)) }
        #expect(!log.isMissing(6) && log.missing(at: 6 * 480 - 3 * 480, frameCount: 480) == nil)
        #expect(log.arrive(-3, position: 0, frameCount: 480, at: at(3)) == .new, "the playout's affair")
    }
}
