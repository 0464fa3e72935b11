// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// A delay line that changes its delay by fading from one tap to another, so that it neither clicks nor changes the pitch. Safe
/// on the render thread, except creation.
struct LoopbackDelay: ~Copyable {
    /// The duration of a fade in seconds.
    static let fade = 0.02

    private let buffer: AudioBuffer
    private let lines: Channels
    private let mask: Int
    private let maximumDelay: Int
    private let fadeLength: Int
    private var writePosition = 0  // index in each line
    private var delay = 0
    private var nextDelay = 0  // reached at the end of the present fade
    private var fadedFrames: Int  // of the present fade

    init(channelCount: Int, maximumFrameCount: Int, sampleRate: Double) {
        let leastCapacity = maximumFrameCount + IOCycle.maximumFrameCount
        let capacity = 1 << (Int.bitWidth - (leastCapacity - 1).leadingZeroBitCount)
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        lines = buffer.channels
        mask = capacity - 1
        maximumDelay = maximumFrameCount
        fadeLength = max(1, Int(Self.fade * sampleRate))
        fadedFrames = fadeLength
    }

    /// Stores a block of input, and outputs the sound of `wanted` frames before. If the delay has changed, the new one fades in
    /// when the previous fade has ended.
    @_noLocks
    mutating func process(_ input: Channels, into output: Channels, frameCount: Int, delay wanted: Int) {
        if fadedFrames >= fadeLength {
            delay = nextDelay
            nextDelay = max(0, min(maximumDelay, wanted))
            if nextDelay != delay { fadedFrames = 0 }
        }
        for c in 0..<lines.count {
            let line = lines[c]
            let (from, to) = (input[c], output[c])
            for i in 0..<frameCount { line[(writePosition &+ i) & mask] = from[i] }
            for i in 0..<frameCount {
                let old = line[(writePosition &+ i &- delay) & mask]
                let new = line[(writePosition &+ i &- nextDelay) & mask]
                let share = smoothStep(fadedFrames &+ i, of: fadeLength)
                to[i] = old + share * (new - old)
            }
        }
        writePosition = (writePosition &+ frameCount) & mask
        fadedFrames = min(fadeLength, fadedFrames &+ frameCount)
    }
}

/// Returns the value at `frame` of a smooth curve that rises from 0 to 1 over `length` frames and then stays at 1. Safe on the
/// render thread.
@_noLocks
func smoothStep(_ frame: Int, of length: Int) -> Float { smoothStep(min(1, Float(frame) / Float(length))) }
