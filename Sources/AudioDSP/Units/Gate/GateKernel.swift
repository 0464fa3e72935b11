// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Silences sound below a threshold.
    public static let gate = UnitType(GateKernel.self)
}

/// A noise gate without look-ahead, all channels together.
///
/// It opens when a sample reaches the threshold, and closes when none has reached the threshold minus the hysteresis for the hold
/// time. 12.5 ms are added to the hold, half a wave of 40 Hz, so that low tones do not close it. Opening and closing are
/// exponentials with the given time constants.
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
    private let leastHold: Int
    private var opening: Float = 1
    private var shutting: Float = 1
    private var attack = 0.0
    private var release = 0.0
    private var holdFrames = 0
    private var floor = LinearRamp(0)
    private var held = 0  // frames until it shuts; 0 when it is shut
    private var gain = 0.0

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        leastHold = Int(0.0125 * sampleRate) + 1
        // The longest hold, and 12 time constants of the longest release.
        memory = leastHold + Int((2 + 12) * sampleRate)
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case threshold, hysteresis, attack, hold, release, range }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        opening = decibelsToGain(values[Parameter.threshold.rawValue])
        shutting = decibelsToGain(values[Parameter.threshold.rawValue] - values[Parameter.hysteresis.rawValue])
        attack = smoothing(seconds: values[Parameter.attack.rawValue], sampleRate: sampleRate)
        holdFrames = leastHold &+ Int(Double(values[Parameter.hold.rawValue]) * sampleRate)
        release = smoothing(seconds: values[Parameter.release.rawValue], sampleRate: sampleRate)
        if held > holdFrames { held = holdFrames }
        let isAtFloor = held == 0 && gain == Double(floor.value)
        // The lowest value is silence.
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
            if magnitude >= (held > 0 ? shutting : opening) {
                held = holdFrames
            } else if held > 0 {
                held &-= 1
            }
            let lowest = Double(floor.next())
            let target = held > 0 ? 1 : lowest
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
        held = 0
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
