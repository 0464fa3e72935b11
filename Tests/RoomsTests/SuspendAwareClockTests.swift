// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotRooms

@Suite struct AwakeClockTests {
    @Test func `time passes normally while the clock is read on time`() {
        var clock = SuspendAwareClock()
        #expect(clock.time(at: .seconds(10), due: nil) == .seconds(10))
        #expect(clock.time(at: .seconds(15.9), due: .seconds(15)) == .seconds(15.9))
        #expect(clock.time(at: .seconds(500), due: nil) == .seconds(500))
    }

    @Test func `time asleep is not counted, even if the machine sleeps again`() {
        var clock = SuspendAwareClock()
        _ = clock.time(at: .seconds(10), due: nil)
        #expect(clock.time(at: .seconds(400), due: .seconds(12)) == .seconds(12))
        #expect(clock.hostTime(.seconds(14)) == .seconds(402))
        #expect(clock.time(at: .seconds(402), due: .seconds(14)) == .seconds(14))
        #expect(clock.time(at: .seconds(900), due: .seconds(16)) == .seconds(16))
        #expect(clock.hostTime(.seconds(16)) == .seconds(900))
    }

    @Test func `the clock never goes back`() {
        var clock = SuspendAwareClock()
        _ = clock.time(at: .seconds(10), due: nil)
        #expect(clock.time(at: .seconds(5), due: nil) == .seconds(10))
        #expect(clock.time(at: .seconds(400), due: .seconds(6)) == .seconds(10))
        #expect(clock.time(at: .seconds(401), due: nil) == .seconds(11))
    }

    @Test func `a reading up to one second late is not a sleep, and a later one is`() {
        var clock = SuspendAwareClock()
        #expect(clock.time(at: .seconds(10), due: .seconds(9)) == .seconds(10))
        #expect(clock.time(at: .seconds(12.5), due: .seconds(11)) == .seconds(11))
        #expect(clock.time(at: .seconds(13.5), due: nil) == .seconds(12))
    }
}
