// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A program's own processing of a call's sound, exchanged while the call runs: ``CallSession/captureInsert`` and
/// ``CallSession/playbackInsert``.
///
/// One insert serves one place of one call at a time.
public final class CallInsert: Sendable {
    /// Seconds by which the insert delays the sound, 0 to 1; other values are clamped.
    public let latency: Double
    let callback: RenderCallback
    private let owner: any AnyObject & Sendable

    /// - Parameters:
    ///   - latency: seconds by which the callback delays the sound. The fade to the insert begins so much later.
    ///   - callback: renders the cycle's input into its output, which is silent before. Both have the call's channels, planar
    ///     at the device's rate, and at most `IOCycle.maximumFrameCount` frames. It is called on the render thread, so it
    ///     must not wait, allocate, free, log or throw.
    ///   - owner: the owner of the callback's memory. The call keeps it as long as the callback may render, and never
    ///     releases it on the render thread.
    public init(latency: Double = 0, callback: RenderCallback, owner: any AnyObject & Sendable) {
        self.latency = max(0, min(1, latency.isNaN ? 0 : latency))
        self.callback = callback
        self.owner = owner
    }
}
