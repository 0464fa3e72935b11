// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Fades the sound of a player or queue in or out, linearly over 10 ms, when the sound resumes or stops in the middle.
package struct EdgeFade: BitwiseCopyable {
    /// The frames of a complete fade.
    private let length: Int
    /// The present level in steps of a fade: 0 is silence, `length` is full level.
    package private(set) var level = 0

    @_noLocks
    package init(sampleRate: Double) { length = max(1, Int(sampleRate * 0.01)) }

    package var isSilent: Bool { @_noLocks get { level == 0 } }

    /// Starts the sound: at full level if it starts at its beginning, with a fade-in if it starts in its middle.
    @_noLocks
    package mutating func begin(inMidst: Bool) { level = inMidst ? 1 : length }

    /// Silences the sound at once.
    @_noLocks
    package mutating func silence() { level = 0 }

    /// Scales frames by a fade: to full level if `rising`, otherwise to silence.
    @_noLocks
    package mutating func scale(_ channels: Channels, from offset: Int, frameCount: Int, rising: Bool) {
        if rising, level == length { return }
        let first = level
        for c in 0..<channels.count {
            level = first
            for i in offset..<offset &+ frameCount {
                if rising, level < length { level &+= 1 } else if !rising, level > 0 { level &-= 1 }
                channels[c][i] *= Float(level) / Float(length)
            }
        }
    }
}
