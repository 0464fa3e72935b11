// SPDX-License-Identifier: Apache-2.0

/// A line with few bends through noisy points, by least squares.
///
/// A part of the line gets a bend where this reduces the squared errors most, if noise would not reduce them as much (binary
/// segmentation: A. J. Scott, M. Knott 1974). Then each bend is moved to its best place between its neighbours.
struct BentLine: Sendable {
    private var knots: [(x: Double, y: Double)] = []

    /// The minimum number of points on each side of a bend.
    private static let margin = 4
    /// The squared errors that a bend removes, relative to a point's variance. Noise rarely removes 30 anywhere in an hour.
    private static let threshold = 30.0
    /// The standard deviation in seconds below which points are exact.
    private static let leastNoise = 2e-8

    /// Returns nil if there are too few points, or points without noise.
    /// - Parameter points: in the order of `x`.
    init?(_ points: [(x: Double, y: Double)]) {
        guard points.count > 2 * Self.margin else { return nil }
        // A second difference has no rate, and six times a point's variance. A median is no bend's.
        let differences = (1..<points.count - 1).map {
            abs(points[$0 - 1].y - 2 * points[$0].y + points[$0 + 1].y)
        }
        let noise = ClockWindow.median(differences) / (0.6745 * 6.0.squareRoot())
        guard noise > Self.leastNoise else { return nil }
        let leastGain = Self.threshold * noise * noise
        var bends = Self.bends(points, 0, points.count - 1, leastGain)
        for _ in 0..<3 { Self.move(&bends, points, leastGain) }
        let borders = [0] + bends + [points.count - 1]
        if bends.isEmpty { knots = BendFit(points[...]).straightEnds }
        for (index, bend) in bends.enumerated() {
            let (first, last) = (borders[index], borders[index + 2])
            let values = BendFit(points[first...last]).values(bendingAt: bend - first)
            if index == 0 { knots.append((points[first].x, values.first)) }
            knots.append((points[bend].x, values.bend))
            if index == bends.count - 1 { knots.append((points[last].x, values.last)) }
        }
    }

    var bendCount: Int { knots.count - 2 }

    /// Returns the value at a place, which may be outside the points.
    func value(at x: Double) -> Double {
        var (low, high) = (1, knots.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if knots[middle].x >= x { high = middle } else { low = middle + 1 }
        }
        let (from, to) = (knots[low - 1], knots[low])
        return from.y + (x - from.x) * (to.y - from.y) / (to.x - from.x)
    }

    private static func bends(_ points: [(x: Double, y: Double)], _ first: Int, _ last: Int, _ leastGain: Double)
        -> [Int]
    {
        guard let best = BendFit(points[first...last]).best(margin: margin), best.gain > leastGain else { return [] }
        let bend = first + best.index
        return bends(points, first, bend, leastGain) + [bend] + bends(points, bend, last, leastGain)
    }

    /// Moves each bend to its best place between its neighbours. Removes bends that are noise there.
    private static func move(_ bends: inout [Int], _ points: [(x: Double, y: Double)], _ leastGain: Double) {
        var index = 0
        while index < bends.count {
            let first = index > 0 ? bends[index - 1] : 0
            let last = index + 1 < bends.count ? bends[index + 1] : points.count - 1
            if let best = BendFit(points[first...last]).best(margin: margin), best.gain > leastGain {
                bends[index] = first + best.index
                index += 1
            } else {
                bends.remove(at: index)
            }
        }
    }
}
