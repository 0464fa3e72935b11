// SPDX-License-Identifier: Apache-2.0

/// Detects acoustic feedback: the output's peak rises or stays at its maximum in successive windows.
///
/// Speech and music rise and fall within tens of milliseconds; feedback does not fall. A loop with a long delay echoes instead:
/// there the windows are longer than the loop, and each must reach full scale. Safe on the render thread.
package struct FeedbackDetector: BitwiseCopyable {
    private let windowCount: Int
    private let minimum: Float
    private var peak: Float = 0
    private var last: Float = 0
    private var frames = 0
    private var risen = 0

    /// - Parameters:
    ///   - windowCount: the number of successive windows without a fall that count as feedback, if the last one is near full
    ///     scale.
    ///   - minimum: the least peak of each of them.
    package init(windowCount: Int, minimum: Float) {
        self.windowCount = windowCount
        self.minimum = minimum
    }

    /// Adds a block's output peak. - Returns: true if feedback was detected; the detector then starts again.
    @_noLocks
    package mutating func follow(peak blockPeak: Float, frameCount: Int, windowLength: Int) -> Bool {
        peak = blockPeak > peak ? blockPeak : peak
        frames &+= frameCount
        guard frames >= windowLength else { return false }
        risen = peak < 0.98 * last || peak < minimum ? 0 : risen &+ 1
        let howls = risen >= windowCount && peak >= 0.95
        last = peak
        if howls {
            last = 0
            risen = 0
        }
        peak = 0
        frames = 0
        return howls
    }
}
