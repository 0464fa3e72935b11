// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
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
    private var fade: TapFade
    /// True until a block of a voice that was not heard before.
    private var isAnew = true
    /// The place of the line after the last frame, and the frames before it that belong to the voice.
    private var (end, filled) = (0, 0)

    init(_ wanted: UnsafeMutablePointer<Atomic<Int>>, line: Channels, length: Int, sampleRate: Double) {
        (self.wanted, self.line, self.length) = (wanted, line, length)
        fadeLength = max(1, Int(Self.fadeTime * sampleRate))
        fade = TapFade(0, length: fadeLength)
    }

    /// Begins anew: the monitor was silent, so an older voice is not heard, and another delay needs no fade.
    @_noLocks
    mutating func reset() { (isAnew, filled) = (true, 0) }

    /// Delays a block of at most ``IOCycle/maximumFrameCount`` frames, in place.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        let delay = max(0, min(length - IOCycle.maximumFrameCount, wanted.pointee.load(ordering: .relaxed)))
        if isAnew { fade.jump(to: delay) } else if delay != fade.target { fade.move(to: delay) }
        isAnew = false
        guard fade.target > 0 || fade.isMoving else {
            filled = 0
            return
        }
        var moved = fade
        for c in 0..<block.count {
            write(block[c], to: line[c], frameCount)
            guard fade.isMoving else {
                for i in 0..<frameCount { block[c][i] = voice(c, i, fade.current) }
                continue
            }
            moved = fade
            for i in 0..<frameCount {
                moved.advance()
                let old = voice(c, i, moved.current)
                block[c][i] = old + moved.weight * (voice(c, i, moved.next) - old)
            }
        }
        fade = moved
        end += frameCount
        if end >= length { end -= length }
        filled = min(length, filled + frameCount)
    }

    @_noLocks
    private func write(_ samples: UnsafeMutablePointer<Float>, to line: UnsafeMutablePointer<Float>, _ count: Int) {
        let first = min(count, length - end)
        copySamples(line + end, samples, first)
        copySamples(line, samples + first, count - first)
    }

    /// The voice of a channel at a frame of the block that was written at ``end``, a number of frames earlier. It fades in where the
    /// line begins.
    @_noLocks
    private func voice(_ c: Int, _ frame: Int, _ delay: Int) -> Float {
        let age = filled + frame - delay
        guard age >= 0 else { return 0 }
        var place = end + frame - delay
        if place < 0 { place += length } else if place >= length { place -= length }
        let sample = line[c][place]
        return delay == 0 || age >= fadeLength ? sample : sample * Float(age) / Float(fadeLength)
    }
}
