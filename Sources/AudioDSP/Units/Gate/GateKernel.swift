// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Lowers or silences sound that stays below a threshold.
    public static let gate = UnitType(GateKernel.self)
}

/// A noise gate without look-ahead, with one gain for all channels.
///
/// The gate opens when a sample reaches the threshold. It closes when no sample has reached the threshold minus the hysteresis
/// for the hold time and another 12.5 ms, which is half a wave of 40 Hz, so that low tones do not close it. Opening and closing
/// are exponentials with the time constants `attack` and `release`.
struct GateKernel: UnitKernel, ~Copyable {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "gate", manufacturer: "earshot"),
            name: "Gate", summary: "Shuts out what is softer than a threshold.",
            parameters: [
                UnitParameter("threshold", "Threshold", .decibels, -96...0, default: -48),
                UnitParameter("hysteresis", "Hysteresis", .decibels, 0...24, default: 6),
                UnitParameter("attack", "Attack", .seconds, 0.0001...0.1, default: 0.001),
                UnitParameter("hold", "Hold", .seconds, 0...2, default: 0.05),
                UnitParameter("release", "Release", .seconds, 0.005...1, default: 0.08),
                UnitParameter("range", "Range", .decibels, -96...0, default: -60),
            ],
            presets: [
                UnitPreset("default", [:]),
                // Leaves some of the room, so that pauses do not sound like a dead line.
                UnitPreset(
                    "voice",
                    [
                        "threshold": -46, "hysteresis": 8, "attack": 0.0005, "hold": 0.2, "release": 0.12, "range": -18,
                    ]),
                UnitPreset(
                    "voice-noisy",
                    [
                        "threshold": -36, "hysteresis": 8, "attack": 0.0005, "hold": 0.15, "release": 0.1, "range": -30,
                    ]),
                UnitPreset(
                    "drums",
                    [
                        "threshold": -30, "hysteresis": 4, "attack": 0.0002, "hold": 0.03, "release": 0.06,
                        "range": -40,
                    ]),
            ])
    }

    let latency = 0
    let memory: Int
    private let sampleRate: Double
    private let minimumHold: Int
    private var openThreshold: Float = 1
    private var closeThreshold: Float = 1
    private var attack = 0.0  // the share of a difference that is left after a frame
    private var release = 0.0  // the same while the gate closes
    private var holdFrames = 0
    private var floor = LinearRamp(0)  // the gain of the closed gate
    private var untilClosing = 0  // frames; 0 when the gate is closed
    private var gain = 0.0

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        minimumHold = Int(0.0125 * sampleRate) + 1
        // The longest hold, and 12 time constants of the longest release.
        memory = minimumHold + Int((2 + 12) * sampleRate)
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case threshold, hysteresis, attack, hold, release, range }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        openThreshold = decibelsToGain(values[Parameter.threshold.rawValue])
        closeThreshold = decibelsToGain(values[Parameter.threshold.rawValue] - values[Parameter.hysteresis.rawValue])
        attack = smoothing(seconds: values[Parameter.attack.rawValue], sampleRate: sampleRate)
        holdFrames = minimumHold &+ Int(Double(values[Parameter.hold.rawValue]) * sampleRate)
        release = smoothing(seconds: values[Parameter.release.rawValue], sampleRate: sampleRate)
        if untilClosing > holdFrames { untilClosing = holdFrames }
        let isAtFloor = untilClosing == 0 && gain == Double(floor.value)
        // The lowest range is silence.
        floor.move(
            to: values[Parameter.range.rawValue] <= -96 ? 0 : decibelsToGain(values[Parameter.range.rawValue]),
            over: frameCount)
        if isAtFloor { gain = Double(floor.value) }
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        let channels = block.input.count
        for i in block.offset..<(block.offset &+ block.frameCount) {
            let magnitude = greatestMagnitude(block.input.pointers, channels, at: i)
            if magnitude >= (untilClosing > 0 ? closeThreshold : openThreshold) {
                untilClosing = holdFrames
            } else if untilClosing > 0 {
                untilClosing &-= 1
            }
            let floorGain = Double(floor.next())
            let target = untilClosing > 0 ? 1 : floorGain
            let missing = target - gain
            if missing < 1e-5 && missing > -1e-5 {
                gain = target
            } else {
                gain = target - missing * (missing > 0 ? attack : release)
            }
            let factor = Float(gain)
            for c in 0..<channels { block.output[c][i] = block.input[c][i] * factor }
        }
    }

    @_noLocks
    mutating func reset() {
        floor.finish()
        untilClosing = 0
        gain = Double(floor.value)
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}
