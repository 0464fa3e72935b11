// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Tells whether somebody speaks, sings or plays, by the levels of blocks: energy against a floor that follows the noise.
///
/// Time goes in windows of 10 ms. A window counts as sound when it is 10 dB above the floor. Sound begins after 50 ms of
/// it, windows below counting back, so that a click is none; it ends 400 ms after the last window of it, so that words do not
/// come apart. The floor rises by 3 dB and falls by 30 dB a second, between -70 and -40 dBFS: so it comes to lie on what is
/// heard in pauses, steady noise of up to -40 dBFS is no sound after some seconds, and what is above -30 dBFS always is,
/// be it a tone without end. It begins at -55 dBFS. Zeros, which nothing sends that listens, leave it where it is.
///
/// Decibels are relative to a full-scale square wave. Without a clock, lock or allocation: it runs in a callback.
struct SpeechDetector: BitwiseCopyable {
    private(set) var isSpeaking = false

    private let windowFrames: Int
    private var frames = 0
    private var energy: Float = 0  // of this window: the sum of mean squares times frames
    private var floor: Float
    private var attack = 0  // windows
    private var hold = 0

    private static var attackWindows: Int { @_noLocks get { 5 } }
    private static var holdWindows: Int { @_noLocks get { 40 } }
    private static var lowest: Float { @_noLocks get { 1e-7 } }  // -70 dBFS
    private static var first: Float { @_noLocks get { 3.16e-6 } }  // -55 dBFS
    private static var highest: Float { @_noLocks get { 1e-4 } }  // -40 dBFS
    private static var above: Float { @_noLocks get { 10 } }
    private static var rise: Float { @_noLocks get { 1.006_93 } }  // 0.03 dB
    private static var fall: Float { @_noLocks get { 0.933_3 } }  // -0.3 dB

    @_noLocks
    init(sampleRate: Double) {
        let frames = Int(sampleRate * 0.01)
        windowFrames = frames > 1 ? frames : 1
        floor = Self.first
    }

    /// Takes the mean square of the next block.
    @_noLocks
    mutating func update(meanSquare: Float, frameCount: Int) {
        var left = frameCount
        while left > 0 {
            let missing = windowFrames &- frames
            let part = left < missing ? left : missing
            energy += meanSquare * Float(part)
            frames &+= part
            left &-= part
            if frames == windowFrames {
                addWindow(energy / Float(windowFrames))
                frames = 0
                energy = 0
            }
        }
    }

    @_noLocks
    private mutating func addWindow(_ window: Float) {
        let isSound = window > Self.above * floor
        if window > floor {
            let risen = floor * Self.rise
            floor = risen < Self.highest ? risen : Self.highest
        } else if window > 0 {
            let fallen = floor * Self.fall
            floor = fallen > Self.lowest ? fallen : Self.lowest
        }
        if isSpeaking {
            hold = isSound ? Self.holdWindows : hold &- 1
            if hold <= 0 {
                isSpeaking = false
                attack = 0
            }
        } else {
            attack = isSound ? attack &+ 1 : attack > 0 ? attack &- 1 : 0
            if attack >= Self.attackWindows {
                isSpeaking = true
                hold = Self.holdWindows
            }
        }
    }
}

/// The level of one voice, and whether it is active.
@frozen
public struct VoiceLevel: BitwiseCopyable, Sendable {
    /// The last block.
    public var block = Level()
    /// The peak; falls by 20 dB a second.
    public var peak: Float = 0
    /// True if somebody speaks, sings or plays: from 50 ms after it begins to 400 ms after it ends.
    public var isSpeaking = false

    /// Silence.
    @_noLocks
    package init() {}
}

/// Measures one voice, block by block.
struct VoiceMeter: BitwiseCopyable {
    private(set) var level = VoiceLevel()
    private var detector: SpeechDetector
    private let decay: Float  // of the peak, a frame

    @_noLocks
    init(sampleRate: Double) {
        detector = SpeechDetector(sampleRate: sampleRate)
        decay = Float(2.302_585 / sampleRate)
    }

    @_noLocks
    mutating func update(_ block: Level, frameCount: Int) {
        detector.update(meanSquare: block.meanSquare, frameCount: frameCount)
        // The exponential's beginning: blocks are short against a second.
        let share = 1 / (1 + decay * Float(frameCount))
        let faded = level.peak * share
        level.block = block
        level.peak = block.peak > faded ? block.peak : faded
        level.isSpeaking = detector.isSpeaking
    }
}
