// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The levels of a ``Loopback``'s last call.
@frozen
public struct LoopbackLevels: BitwiseCopyable, Sendable {
    /// The level of the captured sound.
    public var input = Level()
    /// The level of the played sound.
    public var output = Level()
    /// The peak captured; falls by 20 dB a second.
    package var inputPeak: Float = 0
    /// The peak played; falls by 20 dB a second.
    package var outputPeak: Float = 0
    /// The call's `inputLatency`, in seconds; of no meaning before the first call.
    public var inputLatency = 0.0
    /// The call's `outputLatency`, in seconds.
    public var outputLatency = 0.0
    /// Frames in the call; 0 before the first.
    public var frameCount = 0

    /// Silence.
    @_noLocks
    public init() {}
}
