// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync

/// The transit times of windows, and their ranks.
@Suite struct RankShiftTests {
    @Test func `an overtaken packet counts only as the fastest, and one held up has a limit`() throws {
        var window = TransitWindow()
        func add(_ sent: Int64, _ arrived: Int64) {
            window.add(TransitWindow.Packet(sent: sent * 1_000, arrived: 1_000_000_000 + arrived * 1_000))
        }
        add(0, 9_000)
        add(2_000, 9_008)  // held up by the one before
        add(6_000, 11_008)
        add(4_000, 36_000)  // overtaken
        add(8_000, 36_016)  // 16 µs after it, but not held up by it
        let closed = window.close()
        let (fastest, typical, transits) = try #require(closed)
        #expect(fastest.sent == 6_000_000 && fastest.transit == 1_005_008_000)
        #expect(transits.map(\.isHeld) == [false, true, false, false])
        #expect(transits.map { Int(($0.seconds * 1e6).rounded()) } == [3_992, 2_040, 0, 23_008])
        #expect(typical.transit < 1_028_100_000)
        // A sender's clock that was set back is no packet that was overtaken.
        for n: Int64 in 0..<3 { add(-50_000 + n * 1_000, 200_000 + n * 10_000) }
        let later = window.close()
        #expect(later?.transits.count == 3)
    }

    @Test func `a reported transit time is a multiple of 8 µs up to a quarter of a second`() {
        for (nanoseconds, seconds) in [(0, 0.0), (-5, 0), (1_000_000, 0.001), (8_007_999, 0.008), (.max, 0.262_136)] {
            for isHeld in [false, true] {
                let transit = ReportedTransit(nanoseconds: Int64(nanoseconds), isHeld: isHeld)
                #expect(abs(transit.seconds - seconds) < 1e-9 && transit.isHeld == isHeld)
            }
        }
    }

    /// Returns the transit times of 100 s in which packets keep their order.
    private func transits(packetsApart seconds: Double, later: Double, seed: UInt64) -> [RankShift.Transit] {
        var random = SeededRandom(seed: seed)
        var latest = 0.0
        return (0..<Int(100 / seconds)).map { n in
            let sent = Double(n) * seconds
            let arrived = sent + 0.03 + 0.02 * (random.unit() + random.unit() + random.unit()) / 3
            defer { latest = max(latest, arrived) }
            return .init(seconds: max(latest, arrived) - sent + later, isHeld: arrived <= latest)
        }
    }

    @Test func `the shift of ranks does not depend on the numbers of packets, nor on those held up`() throws {
        for (ours, theirs) in [(64.0, 256.0), (256, 64), (128, 128)] {
            let found = try #require(
                RankShift(
                    BothDirections(
                        outgoing: transits(packetsApart: ours / 48_000, later: 0.011, seed: 1),
                        incoming: transits(packetsApart: theirs / 48_000, later: 0.005, seed: 2))))
            let figures = [found.offset - 0.003, found.variance.squareRoot()].map { $0 * 1e3 }
            print("shift of \(ours) and \(theirs) frames: \(figures) ms")
            #expect(abs(found.offset - 0.003) < 0.000_07)
            #expect((0.000_01...0.000_03).contains(found.variance.squareRoot()))
        }
    }

    @Test func `the shift of ranks needs packets that were not held up, and bears ones that all take as long`() {
        let held = RankShift.Transit(seconds: 0.01, isHeld: true)
        let free = RankShift.Transit(seconds: 0.01, isHeld: false)
        #expect(RankShift(.init(repeating: [])) == nil)
        #expect(RankShift(.init(outgoing: [free, free, free], incoming: [held, held, held, free, free])) == nil)
        let found = RankShift(.init(outgoing: [free, free, free, held], incoming: [free, free, free, held]))
        #expect(found.map { abs($0.offset) < 0.001 && $0.variance.isFinite } ?? true)
    }
}
