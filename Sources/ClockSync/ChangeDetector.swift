// SPDX-License-Identifier: Apache-2.0

/// Notices that a direction's offsets have moved away from the fit: a stepped clock, or a changed route.
///
/// Two cumulative sums of the windows' distances (E. Page, "Continuous inspection schemes", 1954), one for each sign. A distance
/// counts as at most three deviations, so that a stall of some windows is no change.
struct ChangeDetector: Sendable {
    /// A window's distance from the fit.
    struct Residual: BitwiseCopyable, Sendable {
        var start: Double  // the window's times, in seconds
        var end: Double
        var deviations: Double  // of the typical packet from the mean, in deviations of a window
        var excess: Double  // of the fastest packet over its bound in seconds; negative if it is faster than possible
    }

    /// The latest residuals since the fit's last restart, the newest last.
    private(set) var residuals: [Residual] = []
    private var upward = 0.0
    private var downward = 0.0

    private static let capacity = 40
    private static let clip = 3.0
    private static let allowance = 0.5
    private static let suspicion = 8.0
    private static let threshold = 18.0

    /// True if the newest windows should not enter a fit yet.
    var isSuspicious: Bool { max(upward, downward) > Self.suspicion }
    /// True if a change is certain.
    var hasAlarm: Bool { max(upward, downward) > Self.threshold }

    /// Adds a window.
    /// - Parameter predictionDeviation: of the fit at this window, in deviations of a window.
    mutating func add(_ residual: Residual, predictionDeviation: Double) {
        let deviations = residual.deviations / (1 + predictionDeviation * predictionDeviation).squareRoot()
        let clipped = max(-Self.clip, min(Self.clip, deviations))
        upward = max(0, upward + clipped - Self.allowance)
        downward = max(0, downward - clipped - Self.allowance)
        if residuals.count == Self.capacity { residuals.removeFirst() }
        residuals.append(residual)
    }

    /// The deviations by which three successive windows are off, on the same side and each by more than one; 0 otherwise.
    var presentDeviations: Double {
        let last = residuals.suffix(3).map(\.deviations).sorted()
        guard last.count == 3, last[0] > 1 || last[2] < -1 else { return 0 }
        return abs(last[1]) + 1
    }

    /// The most likely time of the change in seconds; nil without an alarm. The residuals since then fit the jump of the newest
    /// ones best, and earlier ones no jump. Residuals count as at most 1.5 jumps, so that an earlier stall is no part of it.
    var changeTime: Double? {
        guard hasAlarm else { return nil }
        let sign = upward > downward ? 1.0 : -1
        let jump = residuals.suffix(7).map { sign * $0.deviations }.median
        var sum = 0.0
        var greatest = 0.0
        var time = residuals.last?.start
        for residual in residuals.reversed() {
            sum += max(-1.5 * jump, min(1.5 * jump, sign * residual.deviations)) - jump / 2
            if sum > greatest { (greatest, time) = (sum, residual.start) }
        }
        return time
    }
}
