// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

extension DelayLockedLoop {
    /// Estimates from the calls' residuals how much earlier the true times are than the line, which runs through the mean of the
    /// calls' times.
    struct Lateness: BitwiseCopyable, Sendable {
        /// The offset of the true times from the line in seconds; 0 or negative.
        private(set) var floor = 0.0
        private var residualCount = 0.0
        private var meanResidual = 0.0  // a weighted mean: recent calls count most
        private var meanSquare = 0.0
        private var meanCube = 0.0
        private var window = Window()
        private var minimum = 0.0  // mean of the last four windows' least residuals, in seconds
        private var minimumTime = 0.0  // mean of those minima's times, in seconds since the last call; negative
        private var windowCount = 0.0  // at most 4
        private static let memorySeconds = 8.0

        /// The least residual in half a second, or in 16 calls if these take longer.
        private struct Window: BitwiseCopyable {
            var minimum = 1.0  // the least residual, in seconds after the present line
            var minimumTime = 0.0  // the minimum's time, in seconds since the last call; negative
            var callCount = 0.0
            var duration = 0.0

            @_noLocks init() {}
        }

        @_noLocks
        init() {}

        /// Restarts with a new line; the statistics of the jitter are kept.
        @_noLocks
        mutating func restart() {
            window = Window()
            windowCount = 0
            floor = 0
        }

        /// Adds a call's residual in seconds, after the line was moved by `shift` seconds and its slope changed by `turn` at that
        /// call.
        @_noLocks
        mutating func update(elapsed: Double, shift: Double, turn: Double, residual: Double) {
            follow(elapsed: elapsed, shift: shift, turn: turn)
            if residual < window.minimum {
                window.minimum = residual
                window.minimumTime = 0
            }
            window.callCount += 1
            window.duration += elapsed
            if window.duration >= 0.5, window.callCount >= 16 { endWindow() }
            let oneSidedness = addToMoments(residual, elapsed: elapsed)
            floor = windowCount > 0 ? oneSidedness * min(0, minimum) : 0
        }

        /// Converts the stored minima to the line that has been moved and turned.
        @_noLocks
        private mutating func follow(elapsed: Double, shift: Double, turn: Double) {
            window.minimumTime -= elapsed
            window.minimum -= shift + turn * window.minimumTime
            minimumTime -= elapsed
            minimum -= shift + turn * minimumTime
        }

        @_noLocks
        private mutating func endWindow() {
            windowCount = min(4, windowCount + 1)
            // The minimum of n exponential delays is itself late: on average by an n-th of the mean delay.
            let unbiased = window.minimum * (1 + 1 / window.callCount)
            minimum += (unbiased - minimum) / windowCount
            minimumTime += (window.minimumTime - minimumTime) / windowCount
            window = Window()
        }

        /// Adds a residual to the moments. Returns 0 for symmetric jitter, up to 1 for jitter that is only ever late; less while
        /// few residuals are known.
        @_noLocks
        private mutating func addToMoments(_ residual: Double, elapsed: Double) -> Double {
            residualCount += 1
            let reach = residualCount > 16 ? 4 * earshot_sqrt(max(0, meanSquare - meanResidual * meanResidual)) : 0.001
            // Limited, because a single stall must not look like skewness.
            let bounded = max(meanResidual - reach, min(meanResidual + reach, residual))
            let weight = max(1 / residualCount, elapsed / (Self.memorySeconds + elapsed))
            meanResidual += weight * (bounded - meanResidual)
            meanSquare += weight * (bounded * bounded - meanSquare)
            meanCube += weight * (bounded * bounded * bounded - meanCube)
            let variance = max(0, meanSquare - meanResidual * meanResidual)
            guard variance > 0 else { return 0 }
            let centralMoment = meanCube - meanResidual * (3 * meanSquare - 2 * meanResidual * meanResidual)
            let skewness = centralMoment / (variance * earshot_sqrt(variance))
            return max(0, min(1, (skewness - 0.4) / 0.6)) * min(1, residualCount / 128)
        }
    }
}
