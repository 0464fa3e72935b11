// SPDX-License-Identifier: Apache-2.0

/// The shifts of seconds (``RankShift``), each computed again only when its second has more windows.
///
/// A second is short against the drift of two clocks (0.1 ms at 100 ppm), and has enough packets that its shift is as exact as if all
/// packets of a minute were ranked at once.
struct RankSeconds: Sendable {
    /// The shift at a time on our clock.
    struct Point: BitwiseCopyable, Sendable {
        var time: Double
        var shift: RankShift
    }

    private struct Second {
        var number: Int
        /// The windows of each direction.
        var counts = BothDirections(repeating: 0)
        var point: Point?

        var count: Int { counts.outgoing + counts.incoming }
        /// True if it has too few windows for a shift of its own.
        var isPart: Bool { min(counts.outgoing, counts.incoming) < RankSeconds.leastCount }
    }

    /// In ascending order.
    private var seconds: [Second] = []

    /// A second with fewer windows than this in a direction (half a second) is joined with the second before it.
    private static let leastCount = 5

    /// Forgets all shifts, because the windows were corrected.
    mutating func forget() { seconds = [] }

    /// Returns the shifts of the windows' seconds; empty if a direction's transit times are unknown.
    /// - Parameter rate: an estimate, which takes the drift out of each new second.
    mutating func points(_ windows: BothDirections<[OffsetWindow]>, rate: Double) -> [Point] {
        let known = seconds
        seconds = Self.count(windows)
        var points: [Point] = []
        // A newest second that has just begun is joined with the one before.
        let joined = seconds.last.flatMap { last in
            last.isPart && seconds.dropLast().last?.number == last.number - 1 ? last.number - 1...last.number : nil
        }
        for index in seconds.indices {
            let second = seconds[index]
            if let joined, joined.upperBound == second.number { break }
            if let old = known.first(where: { $0.number == second.number }), old.count >= second.count {
                // Windows of the oldest second are forgotten one by one.
                seconds[index] = old
            } else {
                seconds[index].point = Self.point(windows, of: second.number...second.number, rate: rate)
            }
            points += seconds[index].point.map { [$0] } ?? []
        }
        guard let joined else { return points }
        return points.filter { $0.time < Double(joined.lowerBound) }
            + (Self.point(windows, of: joined, rate: rate).map { [$0] } ?? [])
    }

    /// Returns the seconds of windows in ascending order, without their shifts.
    private static func count(_ windows: BothDirections<[OffsetWindow]>) -> [Second] {
        var seconds: [Second] = []
        for direction in Direction.allCases {
            for window in windows[direction] {
                let number = second(of: window)
                var place = seconds.endIndex
                while place > 0, seconds[place - 1].number > number { place -= 1 }
                if place == 0 || seconds[place - 1].number < number {
                    seconds.insert(Second(number: number), at: place)
                    place += 1
                }
                seconds[place - 1].counts[direction] += 1
            }
        }
        return seconds
    }

    private static func second(of window: OffsetWindow) -> Int {
        Int(max(-1e9, min(1e9, window.fastest.time.rounded(.down))))
    }

    private static func point(
        _ windows: BothDirections<[OffsetWindow]>, of numbers: ClosedRange<Int>, rate: Double
    ) -> Point? {
        var own = BothDirections<[OffsetWindow]>(repeating: [])
        for direction in Direction.allCases {
            own[direction] = windows[direction].filter { numbers.contains(second(of: $0)) }
        }
        guard !own.outgoing.isEmpty, !own.incoming.isEmpty else { return nil }
        let times = Direction.allCases.map { direction in
            own[direction].reduce(0) { $0 + $1.fastest.time } / Double(own[direction].count)
        }
        let time = (times[0] + times[1]) / 2
        var transits = BothDirections<[RankShift.Transit]>(repeating: [])
        for direction in Direction.allCases {
            transits[direction] = own[direction].transits(direction, rate: rate, at: time)
        }
        return RankShift(transits).map { Point(time: time, shift: $0) }
    }
}
