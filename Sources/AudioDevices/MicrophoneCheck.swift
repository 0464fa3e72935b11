// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Detects a muted or overdriven microphone from the levels of its blocks.
///
/// A window has 100 ms. A finding needs 5 s; ending it needs a clearer level than beginning it, so that a borderline microphone
/// is not reported again and again. Decibels are relative to a full-scale square wave: 0 dBFS is a mean square of 1. No clock,
/// lock or allocation: it may run in a callback, or with a meter's values.
public struct MicrophoneCheck: BitwiseCopyable, Sendable {
    /// The state of a microphone.
    public enum Finding: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
        /// No fault.
        case fine
        /// All samples were zero for 5 s: muted by software, or an input without a microphone.
        case digitalSilence
        /// The level was below -90 dBFS for 5 s, but not zero: muted, unplugged or turned down.
        case silent
        /// More than a fifth of the windows of the last 5 s had a sample at full scale.
        case clipping
    }

    /// The current finding.
    package private(set) var finding = Finding.fine

    private let windowFrames: Int
    private var framesInWindow = 0
    private var windowCount = 0  // up to `memory`
    private var loudest: Float = 0  // of this window: mean square and peak
    private var peak: Float = 0
    // The last windows, the latest in bit 0.
    private var quiet: UInt64 = 0
    private var zero: UInt64 = 0
    private var clipped: UInt64 = 0
    private var loud: UInt64 = 0

    private static var memory: Int { @_noLocks get { 50 } }
    private static var all: UInt64 { @_noLocks get { (1 << 50) - 1 } }
    private static var silence: Float { @_noLocks get { 1e-9 } }  // -90 dBFS
    private static var sound: Float { @_noLocks get { 4e-9 } }  // -84 dBFS
    private static var fullScale: Float { @_noLocks get { 0.999_9 } }  // 16-bit converters reach 0.99997

    /// - Parameter sampleRate: the rate in hertz of the counted frames.
    @_noLocks
    package init(sampleRate: Double) { windowFrames = max(1, Int(sampleRate * 0.1)) }

    /// Adds the level of the next block. Returns true if ``finding`` has changed. Safe on the render thread.
    @discardableResult @_noLocks
    package mutating func update(_ level: Level, frameCount: Int) -> Bool {
        let before = finding
        loudest = level.meanSquare > loudest ? level.meanSquare : loudest
        peak = level.peak > peak ? level.peak : peak
        framesInWindow &+= frameCount
        while framesInWindow >= windowFrames {
            framesInWindow &-= windowFrames
            endWindow()
            // The remainder of a long block has its level.
            loudest = framesInWindow > 0 ? level.meanSquare : 0
            peak = framesInWindow > 0 ? level.peak : 0
        }
        return finding != before
    }

    /// Forgets all levels, for another microphone or after a stop.
    @_noLocks
    package mutating func reset() {
        finding = .fine
        framesInWindow = 0
        windowCount = 0
        loudest = 0
        peak = 0
        quiet = 0
        zero = 0
        clipped = 0
        loud = 0
    }

    @_noLocks
    private mutating func endWindow() {
        quiet = quiet << 1 | (loudest < Self.silence ? 1 : 0)
        zero = zero << 1 | (peak == 0 ? 1 : 0)
        clipped = clipped << 1 | (peak >= Self.fullScale ? 1 : 0)
        loud = loud << 1 | (loudest >= Self.sound ? 1 : 0)
        if windowCount < Self.memory { windowCount &+= 1 }
        guard windowCount == Self.memory else { return }
        let clips = (clipped & Self.all).nonzeroBitCount
        if zero & Self.all == Self.all {
            finding = .digitalSilence
        } else if quiet & Self.all == Self.all {
            finding = .silent
        } else if clips > 10 {
            finding = .clipping
        } else {
            switch finding {
            case .fine: break
            case .digitalSilence, .silent: if loud & 0b11 == 0b11 { finding = .fine }  // 200 ms of sound
            case .clipping: if clips <= 2 { finding = .fine }
            }
        }
    }
}
