// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync

/// The parts of ``ClockSync`` alone.
@Suite struct ClockSyncPartTests {
    @Test func `a window has its fastest packet and the mean between the 70th and 90th percentiles`() throws {
        var window = TransitWindow()
        #expect(window.end == nil)
        for (n, transit) in [5, 2, 90, 3, 4, 7, 8, 9, 6, 10].enumerated() {
            let sent = Int64(n) * 200_000_000
            window.add(TransitWindow.Packet(sent: sent, arrived: 1_000_000_000 + sent + Int64(transit) * 1_000_000))
        }
        #expect(window.end == HostTime(nanoseconds: 1_105_000_000))
        let closed = window.close()
        let (fastest, typical, transits) = try #require(closed)
        #expect(fastest.sent == 200_000_000 && fastest.transit == 1_002_000_000)
        // Those of 9 and 10 ms.
        #expect(typical.sent == 200_000_000 && abs(typical.transit - 1_009_500_000) <= 1)
        #expect(window.end == nil)
        #expect(transits.map { Int(($0.seconds * 1e3).rounded()) } == [3, 0, 88, 1, 2, 5, 6, 7, 4, 8])
        #expect(transits.allSatisfy { !$0.isHeld })
    }

    /// Returns the median typical transit time in milliseconds of many windows. Each packet's delay is random, and none overtakes
    /// another.
    private func typicalTransit(packetsApart seconds: Double, copies: Bool = false) -> Double {
        var random = SeededRandom(seed: 5)
        var window = TransitWindow()
        var (latest, transits): (Int64, [Double]) = (0, [])
        for n in 0..<Int(60 / seconds) {
            let sent = Int64(Double(n) * seconds * 1e9)
            if let end = window.end, end.nanoseconds <= sent, let (_, typical, _) = window.close() {
                transits.append(Double(typical.transit) * 1e-6)
            }
            for copy in 0..<(copies ? 2 : 1) {
                let delay = 30 + 20 * (random.unit() + random.unit() + random.unit()) / 3
                latest = max(latest + 1, sent + Int64(delay * 1e6))
                if copy == 0 {
                    window.add(TransitWindow.Packet(sent: sent, arrived: latest))
                } else {
                    window.noteOther(arrived: latest)
                }
            }
        }
        return transits.median
    }

    @Test func `the typical transit time does not depend on the number of packets`() {
        let dense = typicalTransit(packetsApart: 64 / 48_000)
        let usual = typicalTransit(packetsApart: 128 / 48_000)
        let copied = typicalTransit(packetsApart: 128 / 48_000, copies: true)
        let sparse = typicalTransit(packetsApart: 256 / 48_000)
        print("typical transit: \(dense), \(usual), with copies \(copied), \(sparse) ms")
        for transit in [dense, copied, sparse] { #expect(abs(transit - usual) < 0.3) }
    }

    @Test func `a window of held packets has the transit time of the fastest`() throws {
        var window = TransitWindow()
        window.noteOther(arrived: 1_000_000_000)
        for n in 0..<3 { window.add(TransitWindow.Packet(sent: Int64(n) * 1_000_000, arrived: 1_000_000_010)) }
        let closed = window.close()
        let (fastest, typical, _) = try #require(closed)
        #expect(fastest.transit == 998_000_010 && typical.transit == fastest.transit && typical.sent == fastest.sent)
    }

    @Test func `send times continue over a wrap and a pause, and are placed on the full clock`() {
        var timeline = PeerTimeline()
        let wrap: Int64 = 1 << 32
        let start = wrap - 6
        func at(_ micros: Int64) -> HostTime { HostTime(nanoseconds: 50_000_000 + micros * 1_000) }
        func unwrap(_ micros: Int64, after elapsed: Int64) -> Int64 {
            timeline.unwrap(UInt32(truncatingIfNeeded: micros), arrived: at(elapsed)) / 1_000
        }
        let first = unwrap(start, after: 0)
        let second = unwrap(start + 10, after: 10)
        #expect(first == start && second == start + 10)
        #expect(timeline.hostTime(0) == nil)
        // Two hours later, after more than a wrap without a packet.
        let pause: Int64 = 7_200_000_000
        let third = unwrap(start + pause, after: pause + 90)
        #expect(third == start + pause)
        let full = HostTime(nanoseconds: (start + pause + 8 * wrap) * 1_000 + 77)
        let placed = timeline.place(full, at: at(pause + 200))
        #expect(placed.nanoseconds == (start + pause) * 1_000 + 77)
        #expect(!placed.isContradiction)
        #expect(timeline.hostTime(0) == HostTime(nanoseconds: 8 * wrap * 1_000))
        let later = HostTime(nanoseconds: full.nanoseconds + wrap * 1_000)
        let placedLater = timeline.place(later, at: at(pause + 200))
        #expect(placedLater.isContradiction)
    }

    /// Returns windows of 100 ms with offsets by `offset`, which gets a window's number and direction.
    private func windows(_ count: Int, _ offset: (Int, Direction) -> Double) -> BothDirections<[OffsetWindow]> {
        var windows = BothDirections<[OffsetWindow]>(repeating: [])
        for direction in Direction.allCases {
            for n in 0..<count {
                let sample = OffsetSample(time: Double(n) / 10, offset: offset(n, direction))
                windows[direction].append(OffsetWindow(fastest: sample, typical: sample))
            }
        }
        return windows
    }

    @Test func `bounds follow the packets that were not delayed`() {
        // Every fifth packet takes 2 ms, the others up to 9 ms more; the peer is 50 ppm fast and 0.3 s ahead at 4 s.
        let found = PacketBounds(
            windows(41) { n, direction in
                0.3 + 50e-6 * (Double(n) / 10 - 4) + direction.sign
                    * (0.002 + Double(n % 5) * 0.002 + Double(n % 5) * 5e-5)
            }, at: 4, rates: -1e-4...1e-4)
        #expect(abs(found.offset - 0.3) < 1e-7)
        #expect(abs(found.rate - 50e-6) < 1e-7)
        #expect(abs(found.roundTrip - 0.004) < 1e-7)
    }

    @Test func `the mean leaves out windows of a stall`() {
        let found = RobustMean(
            windows(41) { n, direction in
                0.3 + direction.sign * (0.002 + (n % 2 == 0 ? 0.000_1 : 0) + (n > 10 && n < 14 ? 0.1 : 0))
            }, at: 4, prior: RatePrior())
        #expect(abs(found.offset - 0.3) < 1e-9)
        #expect(abs(found.levels.outgoing - 0.302_05) < 1e-5)
        #expect(found.deviation < 0.000_2)
        #expect(found.error < 0.000_2)
    }

    @Test func `a stall raises no alarm, a lasting change does, with its time`() {
        func residual(_ n: Int, _ deviations: Double) -> ChangeDetector.Residual {
            ChangeDetector.Residual(start: Double(n), end: Double(n), deviations: deviations, excess: 0)
        }
        var detector = ChangeDetector()
        for n in 0..<40 {
            detector.add(residual(n, n == 20 || n == 21 ? 100 : n % 2 == 0 ? 1 : -1), predictionDeviation: 0)
        }
        #expect(!detector.hasAlarm && !detector.isSuspicious)
        #expect(detector.presentDeviations == 0)
        for n in 40..<43 { detector.add(residual(n, -6), predictionDeviation: 0) }
        #expect(detector.presentDeviations == 7)
        for n in 43..<49 { detector.add(residual(n, -6), predictionDeviation: 0) }
        #expect(detector.hasAlarm)
        #expect(detector.changeTime == 40)
    }
}
