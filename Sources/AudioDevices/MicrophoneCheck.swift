// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Detects a muted or overdriven microphone from the levels of its blocks.
///
/// The check judges windows of 100 ms. A finding needs 5 s of windows. Ending a finding needs a clearer level than beginning it,
/// so that a borderline microphone is not reported again and again. Decibels are relative to a full-scale square wave: 0 dBFS is
/// a mean square of 1. The check uses no clock, lock or allocation, so it may run in a callback, or with a meter's values.
public struct MicrophoneCheck: BitwiseCopyable, Sendable {
    /// The state of a microphone.
    public enum Finding: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
        /// No fault was found.
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
    private var windowCount = 0  // ended windows, counted up to `judgedWindows`
    private var maximumMeanSquare: Float = 0  // the highest mean square of a block in the current window
    private var peak: Float = 0  // the highest absolute sample in the current window
    // One bit for each of the last windows, the latest in bit 0.
    private var quietWindows: UInt64 = 0
    private var zeroWindows: UInt64 = 0
    private var clippedWindows: UInt64 = 0
    private var loudWindows: UInt64 = 0

    private static var judgedWindows: Int { @_noLocks get { 50 } }
    private static var allWindows: UInt64 { @_noLocks get { (1 << 50) - 1 } }
    private static var silenceThreshold: Float { @_noLocks get { 1e-9 } }  // mean square: -90 dBFS
    private static var soundThreshold: Float { @_noLocks get { 4e-9 } }  // mean square: -84 dBFS
    private static var fullScale: Float { @_noLocks get { 0.999_9 } }  // 16-bit converters reach 0.99997

    /// - Parameter sampleRate: the rate in hertz of the counted frames.
    @_noLocks
    package init(sampleRate: Double) { windowFrames = max(1, Int(sampleRate * 0.1)) }

    /// Adds the level of the next block. Returns true if ``finding`` has changed. Safe on the render thread.
    @discardableResult @_noLocks
    package mutating func update(_ level: Level, frameCount: Int) -> Bool {
        let before = finding
        maximumMeanSquare = level.meanSquare > maximumMeanSquare ? level.meanSquare : maximumMeanSquare
        peak = level.peak > peak ? level.peak : peak
        framesInWindow &+= frameCount
        while framesInWindow >= windowFrames {
            framesInWindow &-= windowFrames
            endWindow()
            // The block's frames in the next window have the level of the whole block.
            maximumMeanSquare = framesInWindow > 0 ? level.meanSquare : 0
            peak = framesInWindow > 0 ? level.peak : 0
        }
        return finding != before
    }

    /// Forgets all levels and the finding, for another microphone or after a stop.
    @_noLocks
    package mutating func reset() {
        finding = .fine
        framesInWindow = 0
        windowCount = 0
        maximumMeanSquare = 0
        peak = 0
        quietWindows = 0
        zeroWindows = 0
        clippedWindows = 0
        loudWindows = 0
    }

    @_noLocks
    private mutating func endWindow() {
        quietWindows = quietWindows << 1 | (maximumMeanSquare < Self.silenceThreshold ? 1 : 0)
        zeroWindows = zeroWindows << 1 | (peak == 0 ? 1 : 0)
        clippedWindows = clippedWindows << 1 | (peak >= Self.fullScale ? 1 : 0)
        loudWindows = loudWindows << 1 | (maximumMeanSquare >= Self.soundThreshold ? 1 : 0)
        if windowCount < Self.judgedWindows { windowCount &+= 1 }
        guard windowCount == Self.judgedWindows else { return }
        let clippedCount = (clippedWindows & Self.allWindows).nonzeroBitCount
        if zeroWindows & Self.allWindows == Self.allWindows {
            finding = .digitalSilence
        } else if quietWindows & Self.allWindows == Self.allWindows {
            finding = .silent
        } else if clippedCount > 10 {
            finding = .clipping
        } else {
            switch finding {
            case .fine: break
            case .digitalSilence, .silent: if loudWindows & 0b11 == 0b11 { finding = .fine }  // after 200 ms of sound
            case .clipping: if clippedCount <= 2 { finding = .fine }
            }
        }
    }
}
