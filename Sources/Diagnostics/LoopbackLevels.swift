// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The levels of the last callback of a ``Loopback``.
@frozen
public struct LoopbackLevels: BitwiseCopyable, Sendable {
    /// The level of the captured sound.
    public var input = Level()
    /// The level of the played sound.
    public var output = Level()
    /// The peak of the captured sound, 1 being full scale; it falls by 20 dB per second.
    package var inputPeak: Float = 0
    /// The peak of the played sound, 1 being full scale; it falls by 20 dB per second.
    package var outputPeak: Float = 0
    /// The last callback's `IOCycle.inputLatency` in seconds; 0 before the first callback.
    public var inputLatency = 0.0
    /// The last callback's `IOCycle.outputLatency` in seconds; 0 before the first callback.
    public var outputLatency = 0.0
    /// Frames in the last callback; 0 before the first.
    public var frameCount = 0

    /// Creates levels of silence.
    @_noLocks
    public init() {}
}
