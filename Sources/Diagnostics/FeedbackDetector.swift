// SPDX-License-Identifier: Apache-2.0

/// Detects acoustic feedback: the output's peak rises or stays at its maximum in successive windows.
///
/// Speech and music rise and fall within tens of milliseconds; feedback does not fall. In a loop with a long delay, feedback is
/// an echo: there the windows must be longer than the delay, and `minimum` near full scale. Safe on the render thread.
package struct FeedbackDetector: BitwiseCopyable {
    private let windowCount: Int
    private let minimum: Float
    private var windowPeak: Float = 0
    private var lastWindowPeak: Float = 0
    private var framesInWindow = 0
    private var windowsWithoutFall = 0

    /// - Parameters:
    ///   - windowCount: the number of successive windows without a fall that count as feedback, if the last one is near full
    ///     scale.
    ///   - minimum: the least peak of each of these windows; 1 is full scale.
    package init(windowCount: Int, minimum: Float) {
        self.windowCount = windowCount
        self.minimum = minimum
    }

    /// Adds the output peak of a block. Returns true if feedback was detected; the detector then starts again.
    @_noLocks
    package mutating func follow(peak blockPeak: Float, frameCount: Int, windowLength: Int) -> Bool {
        windowPeak = blockPeak > windowPeak ? blockPeak : windowPeak
        framesInWindow &+= frameCount
        guard framesInWindow >= windowLength else { return false }
        windowsWithoutFall = windowPeak < 0.98 * lastWindowPeak || windowPeak < minimum ? 0 : windowsWithoutFall &+ 1
        let howls = windowsWithoutFall >= windowCount && windowPeak >= 0.95
        lastWindowPeak = windowPeak
        if howls {
            lastWindowPeak = 0
            windowsWithoutFall = 0
        }
        windowPeak = 0
        framesInWindow = 0
        return howls
    }
}
