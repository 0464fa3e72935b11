// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync

/// The shifts of seconds that are kept from fit to fit.
@Suite struct RankSecondsTests {
    /// A window of 100 ms with 40 transit times.
    private func window(at time: Double, _ random: inout SeededRandom) -> OffsetWindow {
        let transits = (0..<40).map { _ in
            ReportedTransit(nanoseconds: Int64(random.unit() * 8_000_000), isHeld: random.unit() < 0.3)
        }
        let sample = OffsetSample(time: time, offset: 0.02 + 0.000_1 * random.unit())
        return OffsetWindow(fastest: sample, typical: sample, transits: transits)
    }

    @Test func `kept shifts are those of all windows at once, also while old windows are forgotten`() {
        var random = SeededRandom(seed: 3)
        var kept = RankSeconds()
        var windows = BothDirections<[OffsetWindow]>(repeating: [])
        for n in 0..<120 {
            for direction in Direction.allCases {
                windows[direction].append(window(at: Double(n) * 0.1 + 0.05, &random))
                if windows[direction].count > 55 { windows[direction].removeFirst() }
            }
            let points = kept.points(windows, rate: 0)
            var fresh = RankSeconds()
            let expected = fresh.points(windows, rate: 0)
            #expect(points.count == expected.count)
            #expect(points.map(\.time).dropFirst() == expected.map(\.time).dropFirst())
            #expect(points.map(\.shift.offset).dropFirst() == expected.map(\.shift.offset).dropFirst())
            #expect(points.count >= min(5, n / 10))
        }
    }

    @Test func `forgotten shifts are computed again`() {
        var random = SeededRandom(seed: 4)
        var kept = RankSeconds()
        var windows = BothDirections<[OffsetWindow]>(repeating: [])
        for n in 0..<10 {
            for direction in Direction.allCases { windows[direction].append(window(at: Double(n) * 0.1, &random)) }
        }
        let first = kept.points(windows, rate: 0)
        for index in windows.outgoing.indices { windows.outgoing[index].fastest.offset += 0.004 }
        #expect(kept.points(windows, rate: 0).map(\.shift.offset) == first.map(\.shift.offset))
        kept.forget()
        let moved = kept.points(windows, rate: 0)
        #expect(moved.count == 1 && abs(moved[0].shift.offset - first[0].shift.offset - 0.002) < 0.000_01)
    }
}
