// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Delays the monitored voice. For the render thread.
struct MonitorDelay: ~Copyable {
    /// The longest delay in seconds.
    static let longest = 0.25
    /// The seconds of the fade from one delay to another.
    private static let fadeTime = 0.02

    /// Returns the frames of a line for ``longest``.
    static func lineLength(sampleRate: Double) -> Int {
        Int((longest * sampleRate).rounded(.up)) + IOCycle.maximumFrameCount
    }

    private let line: Channels
    private let length: Int
    private let wanted: UnsafeMutablePointer<Atomic<Int>>  // frames
    private let fadeLength: Int
    /// The frames of delay that are heard, and those to which the sound fades.
    private var (present, next) = (0, 0)
    private var faded = 0
    /// True until a block of a voice that was not heard before.
    private var isAnew = true
    /// The place of the line after the last frame, and the frames before it that belong to the voice.
    private var (end, filled) = (0, 0)

    init(_ wanted: UnsafeMutablePointer<Atomic<Int>>, line: Channels, length: Int, sampleRate: Double) {
        (self.wanted, self.line, self.length) = (wanted, line, length)
        fadeLength = max(1, Int(Self.fadeTime * sampleRate))
    }

    /// Begins anew: the monitor was silent, so an older voice is not heard, and another delay needs no fade.
    @_noLocks
    mutating func reset() { (isAnew, filled) = (true, 0) }

    /// Delays a block of at most ``IOCycle/maximumFrameCount`` frames, in place.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        if isAnew || present == next {
            let new = longestFrames(wanted.pointee.load(ordering: .relaxed))
            if new != next { (next, faded) = (new, 0) }
            if isAnew { (present, isAnew) = (next, false) }
        }
        guard present > 0 || next > 0 else {
            filled = 0
            return
        }
        for c in 0..<block.count {
            for i in 0..<frameCount { line[c][(end + i) % length] = block[c][i] }
            for i in 0..<frameCount {
                let old = voice(c, i, present)
                guard present != next else {
                    block[c][i] = old
                    continue
                }
                let part = min(1, Float(faded + i + 1) / Float(fadeLength))
                block[c][i] = old + part * (voice(c, i, next) - old)
            }
        }
        end = (end + frameCount) % length
        filled = min(length, filled + frameCount)
        faded += frameCount
        if faded >= fadeLength { present = next }
    }

    /// The voice of a channel at a frame of the block that was written at ``end``, a number of frames earlier. It fades in where the
    /// line begins.
    @_noLocks
    private func voice(_ c: Int, _ frame: Int, _ delay: Int) -> Float {
        let age = filled + frame - delay
        guard age >= 0 else { return 0 }
        let sample = line[c][(end + frame - delay + length) % length]
        return delay == 0 || age >= fadeLength ? sample : sample * Float(age) / Float(fadeLength)
    }

    @_noLocks
    private func longestFrames(_ frames: Int) -> Int { max(0, min(length - IOCycle.maximumFrameCount, frames)) }
}
