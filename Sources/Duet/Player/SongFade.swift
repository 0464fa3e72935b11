// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Fades a song or a stem within 5 ms after its beginning and before its end.
///
/// The curve has no corners: a linear ramp of this length would make a loud tone click. The fades add no frames: each frame keeps
/// its place.
struct SongFade: BitwiseCopyable {
    /// The frames of a complete fade.
    let length: Int
    /// The level of the last frame: 0 is silence, `length` is full level.
    private var level = 0

    private static var seconds: Double { @_noLocks get { 0.005 } }

    @_noLocks
    init(sampleRate: Double) { length = max(1, Int(sampleRate * Self.seconds)) }

    /// The frames that a fade-out takes from now on.
    var frameCountToSilence: Int { @_noLocks get { max(0, level &- 1) } }

    /// Silences the sound at once. The next frame begins a fade-in.
    @_noLocks
    mutating func silence() { level = 0 }

    /// Scales the next frames.
    /// - Parameter remaining: the frames until the sound ends; at least ``frameCountToSilence``.
    @_noLocks
    mutating func scale(_ block: Channels, _ frameCount: Int, remaining: Int) {
        if level == length, remaining &- frameCount >= length { return }
        for i in 0..<frameCount {
            level = min(min(level &+ 1, length), max(0, remaining &- i))
            let gain = gain(at: level)
            for c in 0..<block.count { block[c][i] *= gain }
        }
    }

    /// Returns the gain of a frame.
    /// - Parameter distance: the frames from the nearer end of the sound to this frame, itself included.
    @_noLocks
    func gain(at distance: Int) -> Float {
        if distance >= length { return 1 }
        return smoothStep(Float(max(0, distance)) / Float(length))
    }
}
