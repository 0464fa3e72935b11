import CRealtime

/// Learns how fast the sender's clock runs against the receiver's, from when its packets come.
///
/// The smallest offset of each half second is one point, as queueing disturbs that least; the least-squares line through
/// the points gives the slope. 32 points are kept. When they are full neighbours are joined, the smaller of two staying, and
/// what comes covers twice the time: the memory grows with what is known from 16 s to 256 s, and so does the accuracy.
///
/// What is not known yet is not followed: the slope is weighed against what was held before, by its own variance and half a
/// millisecond that a network may shift by meanwhile. Three points in a row far off the line are a network, or a clock, that
/// has changed: the line begins anew and the rate stays until more is known.
struct DriftEstimator: BitwiseCopyable {
    /// Sender's clock against the receiver's: +10e-6 is a sender 10 ppm fast.
    private(set) var drift = 0.0

    private struct Point: BitwiseCopyable {
        var time = 0.0  // seconds
        var offset = 0.0
    }
    private var points = InlineArray<32, Point>(repeating: Point())
    private var count = 0
    private var span = 0.5
    private var present = Point()
    private var presentStart = 0.0
    private var isEmpty = true
    private var held = 0.0  // drift when the line began anew
    // The line, and how far points lie from it.
    private var line = Point()
    private var slope = 0.0
    private var deviation = 0.0
    private var strayCount = 0
    private var isLineKnown = false

    private static var capacity: Int { @_noLocks get { 32 } }
    private static var longestSpan: Double { @_noLocks get { 8 } }
    /// How far off two clocks are believed to be before anything is known, and what is followed without further proof.
    private static var prior: Double { @_noLocks get { 200e-6 } }
    private static var usual: Double { @_noLocks get { 1e-3 } }
    /// Beyond that is no clock but a sender that does not keep the rate it told. It is followed once it has done so for 15 s.
    private static var greatest: Double { @_noLocks get { 0.09 } }

    /// Takes a packet's offset, in seconds, at `time` on the receiver's clock. Returns whether ``drift`` changed.
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

    /// Forgets the line; the rate stays until there is another.
    @_noLocks
    mutating func restart() {
        let drift = drift
        self = DriftEstimator()
        self.drift = drift
        held = drift
    }

    @_noLocks
    private mutating func keep(_ point: Point) -> Bool {
        if count == Self.capacity {
            if span < Self.longestSpan { join() } else { dropFirst(1) }
        }
        points[count] = point
        count &+= 1
        if isLineKnown {
            let residual = point.offset - line.offset - slope * (point.time - line.time)
            let limit = max(0.002, 5 * deviation)
            strayCount = residual > limit || residual < 0 - limit ? strayCount &+ 1 : 0
            if strayCount > 0 {
                if strayCount < 3 { return false }
                dropFirst(count &- 1)  // the others may lie on the way from the old line to the new
                held = drift
                isLineKnown = false
                strayCount = 0
                span = 0.5
            }
        }
        return estimate()
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

    @_noLocks
    private mutating func estimate() -> Bool {
        guard count >= 6 else { return false }
        let n = Double(count)
        var mean = Point()
        for i in 0..<count {
            mean.time += points[i].time / n
            mean.offset += (points[i].offset - points[0].offset) / n
        }
        mean.offset += points[0].offset
        var timeSquared = 0.0
        var product = 0.0
        for i in 0..<count {
            let t = points[i].time - mean.time
            timeSquared += t * t
            product += t * (points[i].offset - mean.offset)
        }
        line = mean
        slope = product / timeSquared
        var residual = 0.0
        for i in 0..<count {
            let r = points[i].offset - mean.offset - slope * (points[i].time - mean.time)
            residual += r * r
        }
        deviation = earshot_sqrt(residual / (n - 2))
        isLineKnown = true
        let length = points[count &- 1].time - points[0].time
        let shift = 0.0005 / length
        let variance = residual / (n - 2) / timeSquared + shift * shift
        let weight = Self.prior * Self.prior / (Self.prior * Self.prior + variance)
        let isProven = length >= 15 && deviation < 0.005 && (slope > Self.usual || slope < 0 - Self.usual)
        let limit = isProven ? Self.greatest : Self.usual
        let old = drift
        drift = max(0 - limit, min(limit, isProven ? 0 - slope : held - (slope + held) * weight))
        return drift != old
    }
}
