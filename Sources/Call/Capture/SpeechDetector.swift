// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Detects speech, singing or playing from the levels of blocks: energy above a floor that follows the noise.
///
/// A window has 10 ms. It counts as sound if it is 10 dB above the floor. Sound begins after 50 ms of such windows; windows below
/// subtract, so that a click does not count. It ends 400 ms after its last window, so that words stay together. The floor rises
/// by 3 dB and falls by 30 dB a second, between -70 and -40 dBFS, starting at -55 dBFS. So it settles on the level of pauses;
/// steady noise up to -40 dBFS is no sound after some seconds, and anything above -30 dBFS always is. Zeros do not move it, since
/// a live microphone does not send them.
///
/// Decibels are relative to a full-scale square wave. No clock, lock or allocation: it runs in a callback.
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

    /// Adds the mean square of the next block.
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
    /// The level of the last block.
    public var block = Level()
    /// The peak; decays by 20 dB a second.
    public var peak: Float = 0
    /// True during speech, singing or playing: from 50 ms after the sound begins to 400 ms after it ends.
    public var isSpeaking = false

    /// Creates a silent level.
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
        // The share of the old peak that remains: exp(-decay * frameCount), approximated for blocks much shorter than a second.
        let kept = 1 / (1 + decay * Float(frameCount))
        let faded = level.peak * kept
        level.block = block
        level.peak = block.peak > faded ? block.peak : faded
        level.isSpeaking = detector.isSpeaking
    }
}
