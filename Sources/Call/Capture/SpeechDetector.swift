// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Detects speech, singing or playing from the levels of blocks: energy above a floor that follows the noise.
///
/// Energy is measured in windows of 10 ms. A window counts as loud if it is 10 dB above the floor. Speaking begins when a count
/// reaches five (50 ms): each loud window adds one and each other window subtracts one, down to zero, so that a click does not
/// count. Speaking ends 400 ms after the last loud window, so that words stay together. The floor rises by 3 dB and falls by 30
/// dB a second, between -70 and -40 dBFS, starting at -55 dBFS. So the floor settles on the level of pauses: after some seconds
/// steady noise up to -40 dBFS is not loud, but anything above -30 dBFS always is. A window of zeros does not move the floor,
/// since a live microphone does not send zeros.
///
/// Decibels are relative to a full-scale square wave. No clock, lock or allocation: it runs in a callback.
struct SpeechDetector: BitwiseCopyable {
    private(set) var isSpeaking = false

    private let windowFrames: Int
    private var filledFrames = 0  // in the open window
    private var energy: Float = 0  // the open window's sum of mean squares times frames
    private var floor: Float
    private var loudWindows = 0  // less other windows; counted until speaking begins
    private var windowsToEnd = 0  // until speaking ends

    private static var attackWindows: Int { @_noLocks get { 5 } }
    private static var holdWindows: Int { @_noLocks get { 40 } }
    private static var lowestFloor: Float { @_noLocks get { 1e-7 } }  // -70 dBFS
    private static var initialFloor: Float { @_noLocks get { 3.16e-6 } }  // -55 dBFS
    private static var highestFloor: Float { @_noLocks get { 1e-4 } }  // -40 dBFS
    private static var loudRatio: Float { @_noLocks get { 10 } }  // 10 dB
    private static var floorRise: Float { @_noLocks get { 1.006_93 } }  // 0.03 dB a window
    private static var floorFall: Float { @_noLocks get { 0.933_3 } }  // -0.3 dB a window

    @_noLocks
    init(sampleRate: Double) {
        let frames = Int(sampleRate * 0.01)
        windowFrames = frames > 1 ? frames : 1
        floor = Self.initialFloor
    }

    /// Adds the next block, given by the mean square of its samples.
    @_noLocks
    mutating func update(meanSquare: Float, frameCount: Int) {
        var framesLeft = frameCount
        while framesLeft > 0 {
            let missing = windowFrames &- filledFrames
            let part = framesLeft < missing ? framesLeft : missing
            energy += meanSquare * Float(part)
            filledFrames &+= part
            framesLeft &-= part
            if filledFrames == windowFrames {
                addWindow(energy / Float(windowFrames))
                filledFrames = 0
                energy = 0
            }
        }
    }

    @_noLocks
    private mutating func addWindow(_ window: Float) {
        let isSound = window > Self.loudRatio * floor
        if window > floor {
            let risen = floor * Self.floorRise
            floor = risen < Self.highestFloor ? risen : Self.highestFloor
        } else if window > 0 {
            let fallen = floor * Self.floorFall
            floor = fallen > Self.lowestFloor ? fallen : Self.lowestFloor
        }
        if isSpeaking {
            windowsToEnd = isSound ? Self.holdWindows : windowsToEnd &- 1
            if windowsToEnd <= 0 {
                isSpeaking = false
                loudWindows = 0
            }
        } else {
            loudWindows = isSound ? loudWindows &+ 1 : loudWindows > 0 ? loudWindows &- 1 : 0
            if loudWindows >= Self.attackWindows {
                isSpeaking = true
                windowsToEnd = Self.holdWindows
            }
        }
    }
}

/// The level of one voice, and whether the participant speaks.
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
    private let decay: Float  // the peak's decay of 20 dB a second, in nepers a frame

    @_noLocks
    init(sampleRate: Double) {
        detector = SpeechDetector(sampleRate: sampleRate)
        decay = Float(2.302_585 / sampleRate)
    }

    @_noLocks
    mutating func update(_ block: Level, frameCount: Int) {
        detector.update(meanSquare: block.meanSquare, frameCount: frameCount)
        // The share of the old peak that remains: exp(-decay * frameCount), approximated for blocks much shorter than a second.
        let remainingShare = 1 / (1 + decay * Float(frameCount))
        let faded = level.peak * remainingShare
        level.block = block
        level.peak = block.peak > faded ? block.peak : faded
        level.isSpeaking = detector.isSpeaking
    }
}
