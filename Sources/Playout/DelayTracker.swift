import AudioBase

/// Learns when packets come: how late the latest of the last seconds was, and how fast the sender's clock runs.
///
/// A packet's *offset* is its arrival on the receiver's device clock less its place on the sender's timeline, both in
/// seconds. A constant of it means nothing (the clocks have different origins); its spread is the jitter and its slope the
/// drift between the two devices. The last `windowCount` half seconds are kept, each as its smallest and largest offset.
/// The slope is the least-squares line through the smallest ones, which queueing disturbs least.
struct DelayTracker {
    /// Sender's clock against the receiver's: +10e-6 is a sender 10 ppm fast. 0 until it is known to 50 ppm.
    private(set) var drift = 0.0

    private struct Window: BitwiseCopyable {
        var start = 0.0
        var least = 0.0
        var most = 0.0
    }
    private static let windowCount = 24
    private static let windowLength = 0.5  // seconds
    private var windows = InlineArray<24, Window>(repeating: Window())
    private var count = 0
    private var newest = 0

    /// Takes the offset of one packet.
    /// - Parameter now: the receiver's device clock, in seconds.
    @_noLocks
    mutating func add(offset: Double, at now: Double) {
        if count == 0 || now - windows[newest].start >= Self.windowLength {
            newest = count == 0 ? 0 : (newest &+ 1) % Self.windowCount
            windows[newest] = Window(start: now, least: offset, most: offset)
            count = min(count &+ 1, Self.windowCount)
            estimateDrift()
        } else {
            if offset < windows[newest].least { windows[newest].least = offset }
            if offset > windows[newest].most { windows[newest].most = offset }
        }
    }

    /// The smallest offset of the windows kept, and the largest without the worst second, each carried to `now` along the
    /// drift. One stall in 12 s is so a fault, not a reason to be late for 12 s; what comes twice is followed.
    @_noLocks
    func range(at now: Double) -> (least: Double, most: Double) {
        var least = Double.infinity
        var worst = -Double.infinity
        var worstIndex = 0
        for i in 0..<count {
            let carried = -drift * (now - windows[i].start)
            least = min(least, windows[i].least + carried)
            if windows[i].most + carried > worst {
                worst = windows[i].most + carried
                worstIndex = i
            }
        }
        guard count >= Self.forgivingCount else { return (least, worst) }
        var most = -Double.infinity
        for i in 0..<count where !isNeighbour(i, of: worstIndex) {
            most = max(most, windows[i].most - drift * (now - windows[i].start))
        }
        return (least, most)
    }

    /// Windows known before one may be left out: 3 s.
    private static var forgivingCount: Int { @_noLocks get { 6 } }

    /// Whether two windows are the same or follow on each other.
    @_noLocks
    private func isNeighbour(_ a: Int, of b: Int) -> Bool {
        let distance = windows[a].start - windows[b].start
        return distance < 1.2 * Self.windowLength && distance > -1.2 * Self.windowLength
    }

    /// Whether an offset is so far from all known ones that the sender must have started anew.
    @_noLocks
    func isForeign(_ offset: Double) -> Bool {
        guard count > 0 else { return false }
        let distance = offset - windows[newest].least
        return distance > 2 || distance < -2
    }

    @_noLocks
    mutating func reset() {
        count = 0
        drift = 0
    }

    @_noLocks
    private mutating func estimateDrift() {
        guard count >= 8 else { return }
        let n = Double(count)
        var meanTime = 0.0
        var meanOffset = 0.0
        for i in 0..<count {
            meanTime += windows[i].start / n
            meanOffset += windows[i].least / n
        }
        var timeSquared = 0.0
        var product = 0.0
        for i in 0..<count {
            let t = windows[i].start - meanTime
            timeSquared += t * t
            product += t * (windows[i].least - meanOffset)
        }
        let slope = product / timeSquared
        var residual = 0.0
        for i in 0..<count {
            let r = windows[i].least - meanOffset - slope * (windows[i].start - meanTime)
            residual += r * r
        }
        let variance = residual / (n - 2) / timeSquared  // of the slope
        drift = variance < 50e-6 * 50e-6 ? max(-1e-3, min(1e-3, -slope)) : 0
    }
}
