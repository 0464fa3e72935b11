// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices

/// The levels of the local microphone and of the remote voices.
public struct CallLevels: BitwiseCopyable, Sendable {
    /// The last block captured.
    public var spoken = Level()
    /// The last block played.
    public var heard = Level()
    /// The peak captured; falls by 1 % a block.
    package var spokenPeak: Float = 0
    /// The peak played; falls by 1 % a block.
    package var heardPeak: Float = 0
    /// True if the local user speaks, sings or plays, muted or not: from 50 ms after it begins to 400 ms after it ends.
    public var isSpeaking = false
    /// The state of the microphone.
    public var microphone = MicrophoneCheck.Finding.fine

    /// Silence.
    package init() {}

    init(spoken: SpokenLevels, heard: HeardLevels) {
        (self.spoken, spokenPeak) = (spoken.last, spoken.peak)
        (self.heard, heardPeak) = (heard.last, heard.peak)
        (isSpeaking, microphone) = (spoken.isSpeaking, spoken.microphone)
    }
}

/// The part of ``CallLevels`` that the thread which captures knows.
struct SpokenLevels: BitwiseCopyable, Sendable {
    var last = Level()
    var peak: Float = 0
    var isSpeaking = false
    var microphone = MicrophoneCheck.Finding.fine
}

/// The part that the thread which plays knows.
struct HeardLevels: BitwiseCopyable, Sendable {
    var last = Level()
    var peak: Float = 0
}
