// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Testing

@testable import EarshotNearby

/// Tests the display of a file's progress, on virtual time.
@Suite(.timeLimit(.minutes(10))) struct ProgressMeterTests {
    private static let start = ContinuousClock.now
    private let member = MemberID(1)!

    private func time(_ seconds: Double) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

    @Test func `the rate is the average of the last five seconds, and the remaining time follows from it`() {
        var meter = ProgressMeter(FileProgress(member, size: 10_000, phase: .moving))
        meter.begin(.moving, at: 0, time(0))
        for tick in 1...100 {
            // 1,000 bytes per second for five seconds, then 100.
            meter.set(Int64(tick <= 50 ? tick * 100 : 5_000 + (tick - 50) * 10))
            let reading = meter.reading(at: time(Double(tick) / 10))
            if tick == 50 {
                #expect(abs(reading.rate - 1_000) < 1)
                #expect(abs((reading.remaining ?? .zero) / .seconds(1) - 5) < 0.01)
            }
        }
        let last = meter.reading(at: time(10.1))
        #expect(abs(last.rate - 100) < 5)
        #expect(abs((last.remaining ?? .zero) / .seconds(1) - 45) < 3)
    }

    @Test func `a stalled transfer has a rate of zero and no remaining time`() {
        var meter = ProgressMeter(FileProgress(member, size: 10_000, phase: .moving))
        meter.begin(.moving, at: 500, time(0))
        for tick in 1...100 { _ = meter.reading(at: time(Double(tick) / 10)) }
        let reading = meter.reading(at: time(10.1))
        #expect(reading.rate == 0 && reading.remaining == nil && reading.bytes == 500)
    }

    @Test func `bytes present before the start do not count towards the rate`() {
        var meter = ProgressMeter(FileProgress(member, size: 10_000, phase: .offered))
        meter.begin(.moving, at: 9_000, time(0))
        meter.set(9_100)
        #expect(abs(meter.reading(at: time(1)).rate - 100) < 0.001)
        meter.begin(.done, at: 10_000, time(1))
        #expect(meter.reading(at: time(2)).rate == 0)
    }
}
