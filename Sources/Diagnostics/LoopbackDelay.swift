// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A delay line that changes its delay by fading from one tap to another, so that it neither clicks nor changes the pitch. Safe
/// on the render thread, except creation.
struct LoopbackDelay: ~Copyable {
    /// The duration of a fade in seconds.
    static let fade = 0.02

    private let buffer: AudioBuffer
    private let lines: Channels
    private let mask: Int
    private let maximum: Int
    private let fadeLength: Int
    private var position = 0  // of the next frame to write
    private var delay = 0
    private var next = 0
    private var faded: Int  // frames of the present fade that are over

    init(channelCount: Int, maximumFrameCount: Int, sampleRate: Double) {
        let least = maximumFrameCount + IOCycle.maximumFrameCount
        let capacity = 1 << (Int.bitWidth - (least - 1).leadingZeroBitCount)
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        lines = buffer.channels
        mask = capacity - 1
        maximum = maximumFrameCount
        fadeLength = max(1, Int(Self.fade * sampleRate))
        faded = fadeLength
    }

    /// Stores a block and returns the one that is `wanted` frames older. A change of the delay starts after the previous fade.
    @_noLocks
    mutating func process(_ input: Channels, into output: Channels, frameCount: Int, delay wanted: Int) {
        if faded >= fadeLength {
            delay = next
            next = max(0, min(maximum, wanted))
            if next != delay { faded = 0 }
        }
        for c in 0..<lines.count {
            let line = lines[c]
            let (from, to) = (input[c], output[c])
            for i in 0..<frameCount { line[(position &+ i) & mask] = from[i] }
            for i in 0..<frameCount {
                let old = line[(position &+ i &- delay) & mask]
                let new = line[(position &+ i &- next) & mask]
                let share = smoothStep(faded &+ i, of: fadeLength)
                to[i] = old + share * (new - old)
            }
        }
        position = (position &+ frameCount) & mask
        faded = min(fadeLength, faded &+ frameCount)
    }
}

/// Returns a smooth curve from 0 to 1 over `length` frames, and 1 after it. Safe on the render thread.
@_noLocks
func smoothStep(_ frame: Int, of length: Int) -> Float {
    let x = min(1, Float(frame) / Float(length))
    return x * x * (3 - 2 * x)
}
