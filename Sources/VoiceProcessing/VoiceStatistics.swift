// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import CEarshotVoiceProcessing

/// The statistics of voice processing.
public struct VoiceStatistics: Hashable, Sendable {
    /// The number of processed frames of 10 ms.
    public var frames = 0
    /// The echo return loss enhancement in decibels: the microphone's power over the output's while the far end is heard,
    /// starting 2 s after it was first heard. A near talker who talks at the same time lowers it. nil if not known yet.
    public var enhancement: Double?
    /// The echo's level relative to the played sound as the library estimates it, in decibels; nil if unknown.
    package var echoReturnLoss: Double?
    /// The milliseconds from the reference to its echo, from the linear stage; nil if unknown or if there is no echo.
    public var echoDelay: Int?
    /// The milliseconds from the reference to its echo, from the library's own search in the residual echo; nil if unknown.
    package var libraryDelay: Int?
    /// True if the latest frame contains voice.
    public var hasVoice = false
    /// The mean processing time for 10 ms of sound, in milliseconds. It includes other work on the same processor core.
    public var cost = 0.0
    /// The longest processing time for 10 ms of sound, in milliseconds.
    public var worst = 0.0

    /// Creates empty statistics.
    public init() {}

    init(
        _ native: earshot_voice_statistics, frames: Int, enhancement: EchoReturnLossEnhancement, cost: Double,
        worst: Double
    ) {
        self.frames = frames
        self.enhancement = enhancement.decibels
        echoReturnLoss = native.echo_return_loss <= -100 ? nil : Double(native.echo_return_loss)
        echoDelay = native.path_delay < 0 ? nil : Int(native.path_delay)
        libraryDelay = native.library_delay < 0 ? nil : Int(native.library_delay)
        hasVoice = native.has_voice != 0
        self.cost = cost
        self.worst = worst
    }
}

/// The powers whose quotient is ``VoiceStatistics/enhancement``.
///
/// The output is some 10 ms late, and the room decays after the loudspeaker is silent. So frames count while the far end is heard
/// and for 20 ms afterwards, but only from 2 s after the far end was first heard.
struct EchoReturnLossEnhancement {
    private var heard = 0  // frames since the far end was first heard
    private var sinceHeard = Int.max  // frames since the far end was last heard
    private var microphone = 0.0  // the sum of the counted frames' mean squares
    private var cleaned = 0.0  // the sum of the same frames' mean squares in the output
    private static let settling = 200  // frames of 10 ms
    private static let threshold = 1e-5  // mean square: -50 dB

    mutating func add(microphone m: Double, reference: Double, cleaned c: Double) {
        if reference > Self.threshold { sinceHeard = 0 } else if sinceHeard < .max { sinceHeard += 1 }
        if heard > 0 || sinceHeard == 0 { heard += 1 }
        guard heard > Self.settling, sinceHeard <= 2 else { return }
        microphone += m
        cleaned += c
    }

    var decibels: Double? {
        microphone > 0 ? 10 / earshot_log(10) * earshot_log(microphone / max(cleaned, microphone * 1e-12)) : nil
    }
}
