// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Learns the drift between the sender's clock and the receiver's from the arrivals of packets.
///
/// The smallest offset of each half second is one point, as queueing affects it least; the least-squares line through the points
/// has the drift as its slope. 32 points are kept. When they are full, neighbours are joined by their smaller one, and each point
/// covers twice the time: memory and accuracy grow from 16 s to 256 s.
///
/// A new slope is not adopted at once: it is weighted against the earlier one by its own variance and half a millisecond by which
/// a network may shift meanwhile. Three successive points far off the line, or a later half that fits a line of its own much
/// better, mean that the network, or a clock, has changed: the line starts again and the rate stays until more is known.
struct DriftEstimator: BitwiseCopyable {
    /// The sender's clock relative to the receiver's: +10e-6 is a sender 10 ppm fast.
    private(set) var drift = 0.0

    private struct Point: BitwiseCopyable {
        var time = 0.0  // seconds
        var offset = 0.0
    }
    private struct Line: BitwiseCopyable {
        var time = 0.0  // the mean of the points' times
        var offset = 0.0  // the mean of the points' offsets
        var slope = 0.0
        var timeSquared = 0.0  // the sum of the squared times, from their mean
        var variance = 0.0  // of the points from the line
        var deviation = 0.0  // the root of `variance`

        @_noLocks init() {}

        @_noLocks
        func at(_ time: Double) -> Double { offset + slope * (time - self.time) }
    }
    private var points = InlineArray<32, Point>(repeating: Point())
    private var count = 0
    private var span = 0.5  // the seconds that a point covers
    private var present = Point()  // the least offset since `presentStart`
    private var presentStart = 0.0
    private var isEmpty = true  // no packet has come
    private var keptDrift = 0.0  // the drift when the line began anew
    private var line = Line()
    private var strayCount = 0  // successive points far off the line
    private var isLineKnown = false

    private static var capacity: Int { @_noLocks get { 32 } }
    private static var longestSpan: Double { @_noLocks get { 8 } }
    /// The assumed standard deviation of the drift between two clocks, before anything is known.
    private static var priorDeviation: Double { @_noLocks get { 200e-6 } }
    /// The maximum drift that is followed without proof.
    private static var usualLimit: Double { @_noLocks get { 1e-3 } }
    /// The maximum drift. A drift beyond ``usualLimit`` comes not from a clock but from a sender that does not keep its nominal
    /// rate; it is followed once proven.
    private static var greatestDrift: Double { @_noLocks get { 0.09 } }
    /// The seconds for which a line must have held to be proven.
    private static var proofTime: Double { @_noLocks get { 15 } }

    /// Adds a packet's offset in seconds at `time` on the receiver's clock. Returns true if ``drift`` changed.
    @_noLocks
    mutating func add(offset: Double, at time: Double) -> Bool {
        if isEmpty {
            isEmpty = false
            presentStart = time
            present = Point(time: time, offset: offset)
            return false
        }
        guard time - presentStart >= span else {
            if offset + drift * time < present.offset + drift * present.time {
                present = Point(time: time, offset: offset)
            }
            return false
        }
        let finished = present
        presentStart = time
        present = Point(time: time, offset: offset)
        return keep(finished)
    }

    /// Forgets the points and their line; the drift stays until there is a new line.
    @_noLocks
    mutating func restart() {
        let drift = drift
        self = DriftEstimator()
        self.drift = drift
        keptDrift = drift
    }

    @_noLocks
    private mutating func keep(_ point: Point) -> Bool {
        if count == Self.capacity {
            if span < Self.longestSpan { join() } else { dropFirst(1) }
        }
        points[count] = point
        count &+= 1
        if isLineKnown {
            let residual = point.offset - line.at(point.time)
            let limit = max(0.002, 5 * line.deviation)
            strayCount = residual > limit || residual < 0 - limit ? strayCount &+ 1 : 0
            if strayCount > 0 {
                if strayCount < 3 { return false }
                begin(keeping: 1)  // earlier points may lie between the old line and the new one
            }
        }
        return estimate()
    }

    /// Restarts the line from its last `number` points. The present drift is kept if the points spanned the seconds of a proof.
    @_noLocks
    private mutating func begin(keeping number: Int) {
        if points[count &- 1].time - points[0].time >= Self.proofTime { keptDrift = drift }
        dropFirst(count &- number)
        isLineKnown = false
        strayCount = 0
        if number == 1 { span = 0.5 }
    }

    @_noLocks
    private mutating func join() {
        for i in 0..<Self.capacity / 2 {
            let a = points[2 &* i]
            let b = points[2 &* i &+ 1]
            points[i] = a.offset + drift * a.time <= b.offset + drift * b.time ? a : b
        }
        count = Self.capacity / 2
        span *= 2
    }

    @_noLocks
    private mutating func dropFirst(_ number: Int) {
        for i in number..<count { points[i &- number] = points[i] }
        count &-= number
    }

    /// Returns the line through the points from `first` on.
    @_noLocks
    private func fit(from first: Int) -> Line {
        let n = Double(count &- first)
        var found = Line()
        for i in first..<count {
            found.time += points[i].time / n
            found.offset += (points[i].offset - points[first].offset) / n
        }
        found.offset += points[first].offset
        var product = 0.0
        for i in first..<count {
            let t = points[i].time - found.time
            found.timeSquared += t * t
            product += t * (points[i].offset - found.offset)
        }
        found.slope = product / found.timeSquared
        for i in first..<count {
            let residual = points[i].offset - found.at(points[i].time)
            found.variance += residual * residual / (n - 2)
        }
        found.deviation = earshot_sqrt(found.variance)
        return found
    }

    @_noLocks
    private mutating func estimate() -> Bool {
        guard count >= 6 else { return false }
        line = fit(from: 0)
        if count >= 8, line.deviation > 0.001 + 3 * fit(from: count / 2).deviation {
            begin(keeping: count &- count / 2)  // the network, or a clock, has changed meanwhile
            return false
        }
        isLineKnown = true
        let length = points[count &- 1].time - points[0].time
        let shift = 0.0005 / length
        let variance = line.variance / line.timeSquared + shift * shift
        let weight = Self.priorDeviation * Self.priorDeviation / (Self.priorDeviation * Self.priorDeviation + variance)
        let isFar = line.slope > Self.usualLimit || line.slope < 0 - Self.usualLimit
        let isProven = isFar && length >= Self.proofTime && line.deviation < 0.005
        // Without proof the drift is within the usual range, or between it and what was proven before.
        let least = isProven ? 0 - Self.greatestDrift : min(0 - Self.usualLimit, keptDrift)
        let greatest = isProven ? Self.greatestDrift : max(Self.usualLimit, keptDrift)
        let old = drift
        drift = max(least, min(greatest, isProven ? 0 - line.slope : keptDrift - (line.slope + keptDrift) * weight))
        return drift != old
    }
}
