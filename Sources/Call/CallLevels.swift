// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices

/// The levels of the local microphone and of the remote voices.
public struct CallLevels: BitwiseCopyable, Sendable {
    /// The level of the last captured block.
    public var spoken = Level()
    /// The level of the last played block, without the monitored local voice.
    public var heard = Level()
    /// The peak of captured sound; decays by 1 % a block.
    package var spokenPeak: Float = 0
    /// The peak of played sound; decays by 1 % a block.
    package var heardPeak: Float = 0
    /// True if the local user speaks, sings or plays, muted or not: from 50 ms after the sound begins to 400 ms after it ends.
    public var isSpeaking = false
    /// The state of the microphone.
    public var microphone = MicrophoneCheck.Finding.fine

    /// The acoustic feedback that was damped in the local voice.
    package var feedback = FeedbackReport()

    /// Creates silent levels.
    package init() {}

    init(spoken: SpokenLevels, heard: HeardLevels) {
        (self.spoken, spokenPeak) = (spoken.last, spoken.peak)
        (self.heard, heardPeak) = (heard.last, heard.peak)
        (isSpeaking, microphone) = (spoken.isSpeaking, spoken.microphone)
        feedback = spoken.feedback
    }
}

/// The part of ``CallLevels`` that the capturing thread measures.
struct SpokenLevels: BitwiseCopyable, Sendable {
    var last = Level()
    var peak: Float = 0
    var isSpeaking = false
    var microphone = MicrophoneCheck.Finding.fine
    var feedback = FeedbackReport()
}

/// The part of ``CallLevels`` that the playing thread measures.
struct HeardLevels: BitwiseCopyable, Sendable {
    var last = Level()
    var peak: Float = 0
}
