// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// Conceals missing frames: continues the sound by linear prediction, fades it into the stream's background, and crossfades to
/// the next frames.
///
/// Everything that is played passes through the concealer, so that the past is known when it is needed. The continuation is full
/// for 20 ms and has ended after 60 ms: long enough for lost packets, too short to buzz. Then ``ComfortNoise`` follows for 2 s,
/// and fades to silence within 1 s more.
struct Concealer: ~Copyable {
    /// The seconds of unfaded continuation, of its fade to the background, of full background, and of its fade to silence.
    private static let (holdTime, fadeTime, noiseTime, noiseFadeTime) = (0.020, 0.040, 2.0, 1.0)
    /// The seconds of the crossfade to received frames, and of the smooth crossfade.
    private static let (blendTime, smoothBlendTime) = (0.00125, 0.005)

    /// True while a continuation is played, or crossfaded with received frames.
    private(set) var isActive = false
    /// True during a smooth crossfade: received frames are already played.
    var isBlendingSmoothly: Bool { @_noLocks get { isActive && isSmooth && blended > 0 } }

    private let channelCount: Int
    private let predictors: UnsafeMutablePointer<LinearPredictor>
    private var noise: ComfortNoise
    private var past: History
    private let mixture: UnsafeMutablePointer<Float>  // the sum or difference of both channels' past
    private let analysisFrames: Int  // the past frames that a prediction uses
    private let holdFrames: Int
    private let fadeFrames: Int
    private let noiseFrames: Int
    private let noiseFadeFrames: Int
    private let blendFrames: Int
    private let smoothBlendFrames: Int
    private var isSmooth = false  // the crossfade is longer and has no kink
    private var elapsed = 0  // frames of continuation so far
    private var blended = 0  // the frames of the continuation crossfaded with received ones

    init(channelCount: Int, sampleRate: Double) {
        self.channelCount = channelCount
        noise = ComfortNoise(channelCount: channelCount, sampleRate: sampleRate)
        analysisFrames = LinearPredictor().historyCount
        past = History(
            channelCount: channelCount, frameCount: max(analysisFrames, Int(ComfortNoise.windowTime * sampleRate)))
        mixture = .allocate(capacity: analysisFrames)
        mixture.initialize(repeating: 0, count: analysisFrames)
        predictors = .allocate(capacity: channelCount)
        for c in 0..<channelCount {
            (predictors + c).initialize(to: LinearPredictor())
        }
        holdFrames = Int(Self.holdTime * sampleRate)
        fadeFrames = Int(Self.fadeTime * sampleRate)
        noiseFrames = Int(Self.noiseTime * sampleRate)
        noiseFadeFrames = Int(Self.noiseFadeTime * sampleRate)
        blendFrames = Int(Self.blendTime * sampleRate)
        smoothBlendFrames = Int(Self.smoothBlendTime * sampleRate)
    }

    deinit {
        predictors.deinitialize(count: channelCount)
        predictors.deallocate()
        mixture.deallocate()
    }

    /// Starts a continuation at the end of the played sound, unless one is played already. The received frames that are passed
    /// next are crossfaded with the continuation.
    @_noLocks
    mutating func begin() {
        guard !isActive || blended > 0 else { return }
        analyze()
        isActive = true
        elapsed = 0
        blended = 0
        isSmooth = false
    }

    /// Starts a continuation, unless one is played already, and makes the crossfade to the received frames smooth: they may have
    /// another phase, because the stream was delayed for longer packets.
    @_noLocks
    mutating func beginSmoothly() {
        begin()
        isSmooth = true
    }

    /// Analyzes the past to predict its continuation. Two channels get one analysis, of their sum, or of their difference if that
    /// is louder: it costs half as much as two analyses, and concealed music is as close to the original.
    @_noLocks
    private mutating func analyze() {
        let start = past.frameCount &- analysisFrames
        guard channelCount == 2 else {
            for c in 0..<channelCount { predictors[c].analyze(past[c] + start) }
            return
        }
        let (left, right) = (past[0] + start, past[1] + start)
        let sign: Float = earshot_dot(left, right, analysisFrames) < 0 ? -1 : 1
        for i in 0..<analysisFrames { mixture[i] = left[i] + sign * right[i] }
        predictors[0].analyze(mixture)
        predictors[0].restart(left)
        predictors[1].restart(right, as: predictors[0])
    }

    /// Starts a continuation if a codec's concealment would begin with a step. Opus's may, after a packet in which the encoder
    /// changes its mode.
    /// - Parameter offset: the first frame of the concealment in its channels.
    @_noLocks
    mutating func begin(before concealment: Channels, offset: Int) {
        for c in 0..<channelCount {
            let played = past[c] + (past.frameCount &- Self.comparedFrames)
            var steepest: Float = 0
            for i in 1..<Self.comparedFrames { steepest = max(steepest, abs(played[i] - played[i &- 1])) }
            let step = abs(concealment[c][offset] - played[Self.comparedFrames &- 1])
            if step > 4 * steepest + Self.inaudibleStep { return begin() }
        }
    }

    /// Returns true if a codec's concealment, or its joint with the sound before it, is much rougher than that sound. Opus's may be,
    /// soon after its hybrid coder begins or before it ends: then the upper bands are noise of a wrong level. Its transform coder
    /// replaces a synthesis that seems to grow by silence, with a step.
    /// - Parameter offset: the first frame of the concealment in its channels.
    @_noLocks
    func isRougher(_ concealment: Channels, offset: Int, frameCount: Int) -> Bool {
        guard frameCount > 2 else { return false }
        for c in 0..<channelCount {
            let played = past[c] + (past.frameCount &- Self.comparedFrames)
            let before = Self.roughness(played, Self.comparedFrames)
            let concealed = Self.roughness(concealment[c] + offset, frameCount)
            let seam = Self.roughness(
                played[Self.comparedFrames &- 2], played[Self.comparedFrames &- 1], concealment[c] + offset)
            if max(concealed, seam) > Self.roughnessRatio * before + Self.inaudibleRoughness { return true }
        }
        return false
    }

    /// Returns the mean square of the second differences, in which high frequencies prevail.
    @_noLocks
    private static func roughness(_ samples: UnsafePointer<Float>, _ frameCount: Int) -> Float {
        var sum: Float = 0
        for i in 2..<frameCount {
            let bend = samples[i] - 2 * samples[i &- 1] + samples[i &- 2]
            sum += bend * bend
        }
        return sum / Float(frameCount &- 2)
    }

    /// Returns the roughness of a seam, by its two second differences. After a smooth sound 0.001 is too rough, which is a click of
    /// -64 dBFS above 2 kHz.
    @_noLocks
    private static func roughness(_ previous: Float, _ last: Float, _ next: UnsafePointer<Float>) -> Float {
        let first = next[0] - 2 * last + previous
        let second = next[1] - 2 * next[0] + last
        return (first * first + second * second) / 16
    }

    /// The ratio of roughness from which on a concealment is rejected: 12 dB.
    private static var roughnessRatio: Float { @_noLocks get { 16 } }
    /// The roughness of inaudible noise, of -80 dBFS.
    private static var inaudibleRoughness: Float { @_noLocks get { 6e-8 } }

    /// The played frames with whose slope a step is compared.
    private static var comparedFrames: Int { @_noLocks get { 240 } }
    /// The step that is inaudible after silence: -60 dBFS.
    private static var inaudibleStep: Float { @_noLocks get { 0.001 } }

    /// Writes the continuation in place of missing frames.
    @_noLocks
    mutating func conceal(_ output: Channels, offset: Int, frameCount: Int) {
        begin()
        for c in 0..<channelCount {
            if elapsed >= continuationLength {
                clearSamples(output[c] + offset, frameCount)
            } else {
                for i in 0..<frameCount { output[c][offset &+ i] = continued(c, elapsed &+ i) }
            }
        }
        elapsed &+= frameCount
        past.append(output, offset: offset, frameCount: frameCount)
    }

    /// Passes received frames. If a continuation is active, the first of the frames are crossfaded with it in place.
    @_noLocks
    mutating func pass(_ output: Channels, offset: Int, frameCount: Int) {
        let wasActive = isActive
        if isActive {
            let length = isSmooth ? smoothBlendFrames : blendFrames
            let count = min(frameCount, length &- blended)
            for c in 0..<channelCount {
                for i in 0..<count {
                    let weight = smoothStep((Float(blended &+ i) + 0.5) / Float(length))
                    let substitute = continued(c, elapsed &+ i)
                    output[c][offset &+ i] = substitute + (output[c][offset &+ i] - substitute) * weight
                }
            }
            elapsed &+= count
            blended &+= count
            if blended >= length { isActive = false }
        }
        past.append(output, offset: offset, frameCount: frameCount)
        // Another background would be a step in the crossfade.
        if !wasActive { noise.observe(past, frameCount: frameCount) }
    }

    /// Returns a frame of the continuation: prediction, an equal-power fade to the background, and a fade to silence.
    @_noLocks @inline(__always)
    private mutating func continued(_ channel: Int, _ frame: Int) -> Float {
        if frame < holdFrames { return predictors[channel].next() }
        if frame < holdFrames &+ fadeFrames {
            let faded = Float(frame &- holdFrames) / Float(fadeFrames)
            return (1 - faded) * predictors[channel].next() + earshot_sqrtf(faded * (2 - faded)) * noise.next(channel)
        }
        let noiseShare = Float(continuationLength &- frame) / Float(noiseFadeFrames)
        return noiseShare <= 0 ? 0 : min(1, noiseShare) * noise.next(channel)
    }

    /// The frames after which a continuation is silence.
    private var continuationLength: Int {
        @_noLocks get { holdFrames &+ fadeFrames &+ noiseFrames &+ noiseFadeFrames }
    }
}
