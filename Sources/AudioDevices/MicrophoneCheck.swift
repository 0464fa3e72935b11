// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Detects a muted or overdriven microphone from the levels of its blocks.
///
/// Digital silence is found after 0.45 s. The other findings need 5 s, in windows of 100 ms. Ending a finding needs a clearer
/// level than beginning it, so that a borderline microphone is not reported again and again. Decibels are relative to a
/// full-scale square wave: 0 dBFS is a mean square of 1. The check uses no clock, lock or allocation, so it may run in a
/// callback, or with a meter's values.
public struct MicrophoneCheck: BitwiseCopyable, Sendable {
    /// The state of a microphone.
    public enum Finding: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
        /// No fault was found.
        case fine
        /// All samples were zero for 0.45 s: muted by software, or an input without a microphone. A microphone that was found so
        /// before and then had sound, such as one with a noise gate, is found so only after 5 s.
        case digitalSilence
        /// The level was below -90 dBFS for 5 s, but not zero: muted, unplugged or turned down.
        case silent
        /// More than a fifth of the windows of the last 5 s had a sample at full scale.
        case clipping
    }

    /// The current finding.
    package private(set) var finding = Finding.fine

    private let sampleRate: Double
    private let windowFrames: Int
    private var framesInWindow = 0
    private var windowCount = 0  // ended windows, counted up to `judgedWindows`
    private var maximumMeanSquare: Float = 0  // the highest mean square of a block in the current window
    private var peak: Float = 0  // the highest absolute sample in the current window
    // One bit for each of the last windows, the latest in bit 0.
    private var quietWindows: UInt64 = 0
    private var clippedWindows: UInt64 = 0
    private var loudWindows: UInt64 = 0
    private var zeroFrames = 0  // the zero samples until now; negative while they do not count
    private var hasEndedSilence = false  // true after a digital silence that ended with sound

    private static var zeroSeconds: Double { @_noLocks get { 0.45 } }  // found within 0.5 s in steps of 50 ms
    private static var repeatedZeroSeconds: Double { @_noLocks get { 5 } }
    private static var routeSettlingSeconds: Double { @_noLocks get { 0.5 } }  // a Bluetooth link begins with zeros
    private static var judgedWindows: Int { @_noLocks get { 50 } }
    private static var allWindows: UInt64 { @_noLocks get { (1 << 50) - 1 } }
    private static var silenceThreshold: Float { @_noLocks get { 1e-9 } }  // mean square: -90 dBFS
    private static var soundThreshold: Float { @_noLocks get { 4e-9 } }  // mean square: -84 dBFS
    private static var fullScale: Float { @_noLocks get { 0.999_9 } }  // 16-bit converters reach 0.99997

    /// - Parameter sampleRate: the rate in hertz of the counted frames.
    @_noLocks
    package init(sampleRate: Double) {
        self.sampleRate = sampleRate
        windowFrames = max(1, Int(sampleRate * 0.1))
    }

    /// Adds the level of the next block. Returns true if ``finding`` has changed. Safe on the render thread.
    @discardableResult @_noLocks
    package mutating func update(_ level: Level, frameCount: Int) -> Bool {
        let before = finding
        maximumMeanSquare = level.meanSquare > maximumMeanSquare ? level.meanSquare : maximumMeanSquare
        peak = level.peak > peak ? level.peak : peak
        framesInWindow &+= frameCount
        // A peak that is no number counts as zero.
        zeroFrames = level.peak > 0 ? 0 : zeroFrames &+ frameCount
        if isDigitallySilent { finding = .digitalSilence }
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
        zeroFrames = 0
        hasEndedSilence = false
        maximumMeanSquare = 0
        peak = 0
        quietWindows = 0
        clippedWindows = 0
        loudWindows = 0
    }

    /// Lets zeros of the next 0.5 s not count, since a new route may begin with them.
    @_noLocks
    package mutating func noteRouteChange() { zeroFrames = -Int(sampleRate * Self.routeSettlingSeconds) }

    private var isDigitallySilent: Bool {
        @_noLocks get {
            let seconds = hasEndedSilence ? Self.repeatedZeroSeconds : Self.zeroSeconds
            return zeroFrames >= max(1, Int(sampleRate * seconds))
        }
    }

    @_noLocks
    private mutating func endWindow() {
        quietWindows = quietWindows << 1 | (maximumMeanSquare < Self.silenceThreshold ? 1 : 0)
        clippedWindows = clippedWindows << 1 | (peak >= Self.fullScale ? 1 : 0)
        loudWindows = loudWindows << 1 | (maximumMeanSquare >= Self.soundThreshold ? 1 : 0)
        if windowCount < Self.judgedWindows { windowCount &+= 1 }
        if isDigitallySilent || zeroFrames < 0 { return }
        let clippedCount = (clippedWindows & Self.allWindows).nonzeroBitCount
        if windowCount == Self.judgedWindows {
            if quietWindows & Self.allWindows == Self.allWindows {
                if peak > 0 || finding != .digitalSilence { finding = .silent }
                return
            }
            if clippedCount > 10 {
                finding = .clipping
                return
            }
        }
        switch finding {
        case .fine: break
        case .digitalSilence, .silent:
            guard loudWindows & 0b11 == 0b11 else { break }  // after 200 ms of sound
            if finding == .digitalSilence { hasEndedSilence = true }
            finding = .fine
        case .clipping: if clippedCount <= 2 { finding = .fine }
        }
    }
}
