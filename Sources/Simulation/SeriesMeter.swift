// SPDX-License-Identifier: Apache-2.0

/// A series over time with at most ``capacity`` points, each for an interval of the same length. If more are needed, the length
/// doubles and neighbours are merged in pairs.
struct SeriesMeter {
    static let capacity = 240

    /// The number of values in an interval, and the sums of the values in seconds.
    struct Point {
        var count = 0.0
        var target = 0.0
        var depth = 0.0
        var mouthToEar = 0.0
    }

    private(set) var points: [Point] = []
    /// The length of a point's interval in seconds.
    private(set) var interval = 0.1

    /// - Parameter elapsed: the seconds since the first point's beginning; never less than before.
    mutating func add(target: Double, depth: Double, mouthToEar: Double, at elapsed: Double) {
        while elapsed >= interval * Double(Self.capacity) { mergePairs() }
        let index = Int(elapsed / interval)
        while points.count <= index { points.append(Point()) }
        points[index].count += 1
        points[index].target += target
        points[index].depth += depth
        points[index].mouthToEar += mouthToEar
    }

    private mutating func mergePairs() {
        interval *= 2
        var merged: [Point] = []
        merged.reserveCapacity(Self.capacity)
        for index in stride(from: 0, to: points.count, by: 2) {
            var sum = points[index]
            if index + 1 < points.count {
                sum.count += points[index + 1].count
                sum.target += points[index + 1].target
                sum.depth += points[index + 1].depth
                sum.mouthToEar += points[index + 1].mouthToEar
            }
            merged.append(sum)
        }
        points = merged
    }
}
