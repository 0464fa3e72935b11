// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Fades what a player or a queue gives, in a straight line of 10 ms, where it goes on or stops in the midst of sound.
package struct EdgeFade: BitwiseCopyable {
    /// Frames of a whole fade.
    private let length: Int
    /// Frames until silence; `length` is full.
    package private(set) var level = 0

    @_noLocks
    package init(sampleRate: Double) { length = max(1, Int(sampleRate * 0.01)) }

    package var isSilent: Bool { @_noLocks get { level == 0 } }

    /// Lets sound begin: at once where it begins itself, by a fade where it goes on in its midst.
    @_noLocks
    package mutating func begin(inMidst: Bool) { level = inMidst ? 1 : length }

    /// Silences at once.
    @_noLocks
    package mutating func silence() { level = 0 }

    /// Scales some frames on the way to full level or to silence.
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
