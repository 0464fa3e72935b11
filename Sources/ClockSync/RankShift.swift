// SPDX-License-Identifier: Apache-2.0

/// The shift between the transit times of both directions, by their ranks.
///
/// If the delays of both directions have one distribution, each transit time is outgoing with a probability equal to the outgoing
/// share of the transit times that are not longer. A held-up packet counts in the shares of transit times that are at least its
/// limit. The shift is the one with which as many belong to each direction as expected: the
/// log-rank test (N. Mantel, "Evaluation of survival data and two new rank order statistics", 1966), reversed in time for
/// observations that are censored on the left. It needs to know nothing of the distribution, and whatever the shares of held-up
/// packets are, they do not move it. A late packet counts as any other, however late it is.
struct RankShift: BitwiseCopyable, Sendable {
    /// A transit time in seconds with any zero.
    struct Transit: BitwiseCopyable, Sendable {
        var seconds: Double
        var isHeld: Bool
    }

    /// Half the seconds by which outgoing transit times are longer than incoming ones: the peer's clock less ours.
    private(set) var offset = 0.0
    /// The variance of the offset in square seconds.
    private(set) var variance = 0.0

    private static let leastCount = 3
    private static let steps = 16
    /// The deviation of a reported transit time, from its unit and the resolution of send times.
    private static let resolution = 4e-6

    /// Returns nil if there are too few packets that were not held up.
    init?(_ transits: BothDirections<[Transit]>) {
        var transits = transits
        for direction in Direction.allCases { transits[direction].sort { $0.seconds < $1.seconds } }
        let (out, back) = (transits.outgoing, transits.incoming)
        let free = out.filter { !$0.isHeld }
        guard free.count >= Self.leastCount, back.count(where: { !$0.isHeld }) >= Self.leastCount else { return nil }
        var low = (out[0].seconds - back[back.count - 1].seconds) / 2
        var high = (out[out.count - 1].seconds - back[0].seconds) / 2
        for _ in 0..<Self.steps {
            offset = (low + high) / 2
            if Self.score(out, back, offset).excess > 0 { low = offset } else { high = offset }
        }
        // The score falls by `slope` a second; half of the transit times lie within eight of these steps.
        let step = max((free[free.count * 3 / 4].seconds - free[free.count / 4].seconds) / 8, Self.resolution)
        let slope =
            (Self.score(out, back, offset - step).excess - Self.score(out, back, offset + step).excess) / (2 * step)
        guard slope > 0 else { return nil }
        variance = Self.score(out, back, offset).variance / (slope * slope) + Self.resolution * Self.resolution
    }

    /// Returns by how many packets more than expected the longer ones are outgoing, with an offset, and the variance of that.
    private static func score(
        _ out: [Transit], _ back: [Transit], _ offset: Double
    ) -> (excess: Double, variance: Double) {
        var (excess, variance) = (0.0, 0.0)
        func count(_ own: [Transit], _ other: [Transit], shift: Double, sign: Double) {
            var others = 0
            for (index, transit) in own.enumerated() where !transit.isHeld {
                while others < other.count, other[others].seconds <= transit.seconds + shift { others += 1 }
                let share = Double(others) / Double(others + index + 1)
                excess += sign * share
                variance += share * (1 - share)
            }
        }
        count(out, back, shift: -2 * offset, sign: 1)
        count(back, out, shift: 2 * offset, sign: -1)
        return (excess, variance)
    }
}
