// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

@Suite struct SequenceTrackerTests {
    @Test func sequenceWrapsIntoTheNextCycle() {
        var tracker = SequenceTracker(first: 65_534)
        #expect(tracker.update(65_535) == .next(65_535))
        #expect(tracker.update(0) == .next(65_536))
        #expect(tracker.update(1) == .next(65_537))
        #expect(tracker.expected == 4 && tracker.lost == 0)
    }

    @Test func manyCyclesAreCounted() {
        var tracker = SequenceTracker(first: 0)
        for n in 1...200_000 { #expect(tracker.update(UInt16(truncatingIfNeeded: n)) == .next(n)) }
        #expect(tracker.highest == 200_000 && tracker.received == 200_001)
    }

    @Test func lateAndDuplicateAcrossTheWrap() {
        var tracker = SequenceTracker(first: 65_530)
        #expect(tracker.update(3) == .next(65_539))
        #expect(tracker.lost == 8)
        #expect(tracker.update(65_535) == .late(65_535))
        #expect(tracker.update(65_535) == .duplicate)
        #expect(tracker.update(3) == .duplicate)
        #expect(tracker.reordered == 1 && tracker.duplicates == 2)
        #expect(tracker.lost == 5, "RFC 3550 A.3 counts duplicates as received")
    }

    @Test func packetOvertakenByTheFirstIsExpectedToo() {
        var tracker = SequenceTracker(first: 0)
        #expect(tracker.update(65_535) == .late(-1))
        #expect(tracker.expected == 2 && tracker.lost == 0)
    }

    @Test func longestDropoutIsAGapOneMoreIsAJump() {
        var tracker = SequenceTracker(first: 0)
        #expect(tracker.update(2_999) == .next(2_999))
        #expect(tracker.update(2_999 + 3_000) == .jump)
        #expect(tracker.update(2_999 + 3_001) == .restart)
    }

    @Test func oneStrayPacketDoesNotRestartTheSource() {
        var tracker = SequenceTracker(first: 100)
        #expect(tracker.update(40_000) == .jump)
        #expect(tracker.update(101) == .next(101))
        #expect(tracker.update(40_001) == .jump, "not in a row")
        #expect(tracker.update(102) == .next(102))
    }

    @Test func fractionLostIsOfTheIntervalOnly() {
        var tracker = SequenceTracker(first: 0)
        for n in 1..<100 { _ = tracker.update(UInt16(n)) }
        #expect(tracker.takeFractionLost() == 0)
        for n in 100..<200 where n % 4 != 0 { _ = tracker.update(UInt16(n)) }
        #expect(tracker.takeFractionLost() == 64)
        for n in 200..<210 { _ = tracker.update(UInt16(n)) }
        #expect(tracker.takeFractionLost() == 0)
        #expect(tracker.takeFractionLost() == 0, "nothing expected")
    }
}
