// SPDX-License-Identifier: Apache-2.0

/// Notices a loop that howls: what is played gets louder, or stays at its loudest, window after window.
///
/// Speech and music rise and fall within tens of milliseconds, a howl does not fall. A loop that takes long echoes rather than
/// howls: there the windows are longer than it, and each must be at full scale. Render-safe.
package struct FeedbackDetector: BitwiseCopyable {
    private let windowCount: Int
    private let minimum: Float
    private var peak: Float = 0
    private var last: Float = 0
    private var frames = 0
    private var risen = 0

    /// - Parameters:
    ///   - windowCount: successive windows without a fall that count as a howl, if the last is near full scale.
    ///   - minimum: what each peaks at, at least.
    package init(windowCount: Int, minimum: Float) {
        self.windowCount = windowCount
        self.minimum = minimum
    }

    /// Takes what a block's output peaked at. - Returns: whether it howls; then it begins anew.
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
