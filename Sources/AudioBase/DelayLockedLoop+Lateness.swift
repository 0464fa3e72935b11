// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

extension DelayLockedLoop {
    /// Estimates the offset between the line, which runs through the mean call, and the true times from the residuals.
    struct Lateness: BitwiseCopyable, Sendable {
        /// The offset of the true times from the line in seconds; 0 or negative.
        private(set) var floor = 0.0
        private var count = 0.0
        private var first = 0.0  // means of the residuals' powers
        private var second = 0.0
        private var third = 0.0
        private var window = Window()
        private var minimum = 0.0  // mean of the last windows' minima
        private var minimumTime = 0.0  // mean of their times
        private var windowCount = 0.0
        private static let memory = 8.0

        /// A window of half a second, or of 16 calls if they are rare.
        private struct Window: BitwiseCopyable {
            var minimum = 1.0  // against the line as it is now
            var minimumTime = 0.0  // seconds since then; negative
            var count = 0.0
            var age = 0.0

            @_noLocks init() {}
        }

        @_noLocks
        init() {}

        /// Restarts with a new line; the jitter is kept.
        @_noLocks
        mutating func restart() {
            window = Window()
            windowCount = 0
            floor = 0
        }

        /// Adds a call's residual, after the line was moved by `shift` and turned by `turn` at that call.
        @_noLocks
        mutating func update(elapsed: Double, shift: Double, turn: Double, residual: Double) {
            follow(elapsed: elapsed, shift: shift, turn: turn)
            if residual < window.minimum {
                window.minimum = residual
                window.minimumTime = 0
            }
            window.count += 1
            window.age += elapsed
            if window.age >= 0.5, window.count >= 16 { endWindow() }
            let isLateOnly = addToMoments(residual, elapsed: elapsed)
            floor = windowCount > 0 ? isLateOnly * min(0, minimum) : 0
        }

        /// Converts the residuals to the new line.
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
            // The minimum of n exponential delays is itself late by an n-th of their mean.
            let unbiased = window.minimum * (1 + 1 / window.count)
            minimum += (unbiased - minimum) / windowCount
            minimumTime += (window.minimumTime - minimumTime) / windowCount
            window = Window()
        }

        /// Returns 0 for symmetric jitter and 1 for jitter that is only ever late.
        @_noLocks
        private mutating func addToMoments(_ residual: Double, elapsed: Double) -> Double {
            count += 1
            let reach = count > 16 ? 4 * earshot_sqrt(max(0, second - first * first)) : 0.001
            let x = max(first - reach, min(first + reach, residual))  // one stall shall not pass for skewness
            let share = max(1 / count, elapsed / (Self.memory + elapsed))
            first += share * (x - first)
            second += share * (x * x - second)
            third += share * (x * x * x - third)
            let variance = max(0, second - first * first)
            guard variance > 0 else { return 0 }
            let central = third - first * (3 * second - 2 * first * first)
            let skewness = central / (variance * earshot_sqrt(variance))
            return max(0, min(1, (skewness - 0.4) / 0.6)) * min(1, count / 128)
        }
    }
}
