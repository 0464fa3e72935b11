// SPDX-License-Identifier: Apache-2.0

/// Fits two straight lines that meet at one of the points, by least squares.
struct BendFit {
    /// The sums of 1, x, x², y and xy over points, where y is the distance from the straight line through all points.
    private struct Sums {
        var (one, x, xx, y, xy) = (0.0, 0.0, 0.0, 0.0, 0.0)

        mutating func add(_ x: Double, _ y: Double) {
            one += 1
            self.x += x
            xx += x * x
            self.y += y
            xy += x * y
        }

        static func - (a: Sums, b: Sums) -> Sums {
            Sums(one: a.one - b.one, x: a.x - b.x, xx: a.xx - b.xx, y: a.y - b.y, xy: a.xy - b.xy)
        }

        /// Returns the sums of x, x² and xy with x relative to a place.
        func relative(to place: Double) -> (x: Double, xx: Double, xy: Double) {
            (x - place * one, xx - place * (2 * x - place * one), xy - place * y)
        }
    }

    /// The first point's place.
    private let origin: Double
    /// The points' places after the first one.
    private let places: [Double]
    /// The straight line through all points: its value at the first one, and its slope.
    private let line: (start: Double, slope: Double)
    /// The sums over the points up to each one.
    private var sums: [Sums] = []

    /// - Parameter points: at least two, in the order of `x`.
    init(_ points: ArraySlice<(x: Double, y: Double)>) {
        let first = points[points.startIndex]
        origin = first.x
        places = points.map { $0.x - first.x }
        var all = Sums()
        for point in points { all.add(point.x - first.x, point.y - first.y) }
        let slope = (all.one * all.xy - all.x * all.y) / (all.one * all.xx - all.x * all.x)
        line = (first.y + (all.y - slope * all.x) / all.one, slope)
        var sum = Sums()
        for point in points {
            let x = point.x - first.x
            sum.add(x, point.y - line.start - slope * x)
            sums.append(sum)
        }
    }

    /// The ends of the straight line through all points.
    var straightEnds: [(x: Double, y: Double)] {
        let length = places[places.count - 1]
        return [(origin, line.start), (origin + length, line.start + line.slope * length)]
    }

    /// Returns the bend with the least squared errors, and by how much they are less than those of the straight line; nil if no
    /// point has `margin` points on both sides.
    func best(margin: Int) -> (index: Int, gain: Double)? {
        guard places.count > 2 * margin else { return nil }
        var best: (index: Int, gain: Double)?
        for index in margin..<places.count - margin {
            let gain = fit(index).gain
            if gain > best?.gain ?? 0 { best = (index, gain) }
        }
        return best
    }

    /// Returns the values at the first point, at the bend, and at the last point.
    func values(bendingAt index: Int) -> (first: Double, bend: Double, last: Double) {
        let fit = fit(index)
        let (place, length) = (places[index], places[places.count - 1])
        return (
            line.start + fit.value - place * fit.before, line.start + line.slope * place + fit.value,
            line.start + line.slope * length + fit.value + (length - place) * fit.after
        )
    }

    /// Returns the value and the slopes of a bend relative to the straight line, and by how much the squared errors are less.
    private func fit(_ index: Int) -> (value: Double, before: Double, after: Double, gain: Double) {
        let (place, all) = (places[index], sums[sums.count - 1])
        let (before, after) = (sums[index].relative(to: place), (all - sums[index]).relative(to: place))
        let value =
            (all.y - before.x * before.xy / before.xx - after.x * after.xy / after.xx)
            / (all.one - before.x * before.x / before.xx - after.x * after.x / after.xx)
        let slopes = ((before.xy - value * before.x) / before.xx, (after.xy - value * after.x) / after.xx)
        return (value, slopes.0, slopes.1, value * all.y + slopes.0 * before.xy + slopes.1 * after.xy)
    }
}
