// SPDX-License-Identifier: Apache-2.0

/// The callbacks of a quarter of a second, or 16 if these take longer: their mean, and how far they reach from it.
struct ClockWindow: Sendable {
    private var callCount = 0.0
    private var time = 0.0
    private var deviation = 0.0
    private var lateness = (mean: 0.0, earliest: Double.infinity, latest: -Double.infinity)

    /// - Parameter duration: of the window, in seconds.
    func isFull(_ duration: Double) -> Bool { callCount >= 16 && duration >= 0.25 }

    /// Adds a callback. All times are in seconds.
    /// - Parameters:
    ///   - time: by the device's counter at its nominal rate.
    ///   - deviation: from there to the callback's due time.
    ///   - lateness: from there to the callback.
    mutating func add(time: Double, deviation: Double, lateness: Double) {
        callCount += 1
        self.time += (time - self.time) / callCount
        self.deviation += (deviation + lateness - self.deviation) / callCount
        self.lateness.mean += (lateness - self.lateness.mean) / callCount
        self.lateness.earliest = min(self.lateness.earliest, lateness)
        self.lateness.latest = max(self.lateness.latest, lateness)
    }

    private var reachBefore: Double { lateness.mean - lateness.earliest }
    private var reachAfter: Double { lateness.latest - lateness.mean }

    /// Returns a clock's deviations from its nominal rate, of the windows without a stall.
    ///
    /// The means are right if callbacks reach as far before them as after them. If callbacks are only ever late, the earliest
    /// ones are right (``DelayLockedLoop``). Exponential delays reach four times as far after the mean of 90 as before it.
    static func points(_ windows: [ClockWindow]) -> [(x: Double, y: Double)] {
        let (before, after) = (median(windows.map(\.reachBefore)), median(windows.map(\.reachAfter)))
        let oneSidedness = before > 0 ? max(0, min(1, (after / before - 1.5) / 1.5)) : 0
        return windows.lazy.filter { $0.reachAfter <= 4 * after }
            .map { ($0.time, $0.deviation - oneSidedness * before) }
    }

    /// Returns the median; 0 of no values.
    static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
}
