// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Fades a voice in or out over 5 ms. Without a fade an audible voice is unchanged, and an inaudible one is silence. A voice that
/// begins fades in over 25 ms: a decoder that joins a running stream makes noise until it has the encoder's state.
struct VoiceFader: BitwiseCopyable {
    private var gain: Float
    private let step: Float  // the change of the gain a frame
    private let firstStep: Float  // the change while the voice begins
    private var hasBegun = false
    private var onsetFrames: Int  // the frames of a beginning voice that remain to be silenced

    /// The seconds of silence at the beginning of a voice. Playout's resampler rings for 16 frames of the stream before the first
    /// sample, and the gain must not rise before that sample, which may be loud.
    private static var onsetTime: Double { @_noLocks get { 0.000_5 } }

    @_noLocks
    init(sampleRate: Double, isHeard: Bool) {
        gain = isHeard ? 1 : 0
        step = Float(1 / (0.005 * sampleRate))
        firstStep = Float(1 / (0.025 * sampleRate))
        onsetFrames = Int(Self.onsetTime * sampleRate)
    }

    /// True once a voice that begins is loud enough to replace another.
    var isAudible: Bool { @_noLocks get { gain > 0.5 } }

    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int, isHeard: Bool) {
        let goal: Float = isHeard ? 1 : 0
        if gain == goal {
            if !isHeard { for c in 0..<block.count { clearSamples(block[c], frameCount) } }
            return
        }
        fade(block, from: 0, frameCount, by: isHeard ? step : 0 - step)
    }

    /// Fades a voice in from 0.5 ms after its first sample that is not zero; does nothing once the voice has its full gain.
    @_noLocks
    mutating func begin(_ block: Channels, _ frameCount: Int) {
        if gain == 1 { return }
        var first = 0
        if onsetFrames > 0 {
            first = hasBegun ? 0 : firstSound(block, frameCount)
            hasBegun = first < frameCount
            let silentFrames = min(onsetFrames, frameCount &- first)
            onsetFrames = onsetFrames &- silentFrames
            first = first &+ silentFrames
            for c in 0..<block.count { clearSamples(block[c], first) }
        }
        fade(block, from: first, frameCount, by: firstStep, isSquared: true)
    }

    /// Returns the first frame that is not zero; `frameCount` if there is none.
    @_noLocks
    private func firstSound(_ block: Channels, _ frameCount: Int) -> Int {
        var first = frameCount
        for c in 0..<block.count {
            var i = 0
            while i < first, block[c][i] == 0 { i &+= 1 }
            first = i
        }
        return first
    }

    @_noLocks
    private mutating func fade(
        _ block: Channels, from first: Int, _ frameCount: Int, by change: Float, isSquared: Bool = false
    ) {
        var reached = gain
        for c in 0..<block.count {
            let samples = block[c]
            reached = gain
            var i = first
            while i < frameCount {
                reached += change
                reached = reached < 0 ? 0 : reached > 1 ? 1 : reached
                samples[i] *= isSquared ? reached * reached : reached
                i &+= 1
            }
        }
        gain = reached
    }
}
