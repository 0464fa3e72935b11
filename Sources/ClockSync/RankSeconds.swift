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
        /// The windows of both directions.
        var count: Int
        var point: Point?
    }

    private var seconds: [Int: Second] = [:]

    /// A second with fewer windows than this in a direction (half a second) is joined with the second before it.
    private static let leastCount = 5

    /// Forgets all shifts, because the windows were corrected.
    mutating func forget() { seconds = [:] }

    /// Returns the shifts of the windows' seconds; empty if a direction's transit times are unknown.
    /// - Parameter rate: an estimate, which takes the drift out of each new second.
    mutating func points(_ windows: BothDirections<[OffsetWindow]>, rate: Double) -> [Point] {
        var counts: [Int: BothDirections<Int>] = [:]
        for direction in Direction.allCases {
            for index in windows[direction].indices {
                counts[Self.second(of: windows[direction][index]), default: .init(repeating: 0)][direction] += 1
            }
        }
        seconds = seconds.filter { counts[$0.key] != nil }
        let newest = counts.keys.max() ?? 0
        let isBegun =
            counts[newest - 1] != nil && counts[newest].map { min($0.outgoing, $0.incoming) < Self.leastCount } ?? false
        return counts.keys.sorted().compactMap { number in
            guard let count = counts[number] else { return nil }
            if isBegun, number == newest { return nil }
            if isBegun, number == newest - 1 { return Self.point(windows, of: number...newest, rate: rate) }
            // Windows of the oldest second are forgotten one by one.
            if let known = seconds[number], known.count >= count.outgoing + count.incoming { return known.point }
            let point = Self.point(windows, of: number...number, rate: rate)
            seconds[number] = Second(count: count.outgoing + count.incoming, point: point)
            return point
        }
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
