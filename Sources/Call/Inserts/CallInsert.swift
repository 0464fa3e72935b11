// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A program's own processing of a call's sound, exchanged while the call runs: ``CallSession/captureInsert`` and
/// ``CallSession/playbackInsert``.
///
/// An insert can be in one place of one call at a time.
public final class CallInsert: Sendable {
    /// The delay of the insert in seconds, clamped to 0…1.
    public let latency: Double
    let callback: RenderCallback
    private let owner: any AnyObject & Sendable

    /// - Parameters:
    ///   - latency: the delay of the callback in seconds. At first the callback's input fades in. The fade to the insert begins
    ///     this delay later.
    ///   - callback: renders the cycle's input into its output, which is silent on entry. Both have the call's channels, planar
    ///     at the device's rate, and at most `IOCycle.maximumFrameCount` frames. Called on the render thread: it must not wait,
    ///     allocate, free, log or throw.
    ///   - owner: the owner of the callback's memory. The call retains it as long as the callback may render, and never releases
    ///     it on the render thread.
    public init(latency: Double = 0, callback: RenderCallback, owner: any AnyObject & Sendable) {
        self.latency = max(0, min(1, latency.isNaN ? 0 : latency))
        self.callback = callback
        self.owner = owner
    }
}
