// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotPlayout

/// A window is half a second; 24 are remembered.
struct RecoveryTrackerTests {
    @Test func `a reset forgets all offsets permanently`() {
        var tracker = RecoveryTracker()
        for n in 0..<40 { tracker.add(recovered: 0.02, at: Double(n) * 0.5) }
        tracker.reset()
        let cleared = tracker.offset(at: 20, drift: 0)
        #expect(cleared == nil)
        for n in 0..<30 {
            tracker.add(at: 20 + Double(n) * 0.5)
            let later = tracker.offset(at: 20 + Double(n) * 0.5, drift: 0)
            #expect(later == nil, "window \(n)")
        }
    }

    @Test func `recovered packets are remembered for twelve seconds`() {
        var tracker = RecoveryTracker()
        for _ in 0..<3 { tracker.add(recovered: 0.02, at: 100) }
        for n in 1...40 {
            let now = 100 + Double(n) * 0.5
            tracker.add(at: now)
            let offset = tracker.offset(at: now, drift: 0)
            #expect(offset == (n < 24 ? 0.02 : nil), "\(now - 100) s later")
        }
    }

    @Test func `packets within half a second count as one, and those further apart separately`() {
        for (interval, right) in [(0.1, 0.5), (0.49, 0.5), (0.5, 0.03)] {
            var tracker = RecoveryTracker()
            tracker.add(at: 7)
            for (n, offset) in [0.5, 0.03, 0.02, 0.01].enumerated() {
                // Two fit into each window unless the interval is half a second.
                let now = 7 + Double(interval < 0.5 ? n / 2 : n) * 0.5 + (interval < 0.5 ? Double(n % 2) * interval : 0)
                tracker.add(recovered: offset, at: now)
            }
            let found = tracker.offset(at: 9, drift: 0)
            #expect(found == right, "every \(interval) s")
        }
    }

    @Test func `an offset follows the drift from the window in which it was observed`() throws {
        var tracker = RecoveryTracker()
        for n in 0..<4 { tracker.add(recovered: 0.02, at: Double(n)) }
        // The offsets of a fast sender decrease, so the newest two are the greatest. The second of four counts.
        let fast = tracker.offset(at: 4, drift: 1e-3)
        #expect(abs(try #require(fast) - 0.018) < 1e-12)
        let slow = tracker.offset(at: 4, drift: -1e-3)
        #expect(abs(try #require(slow) - 0.023) < 1e-12)
    }
}
