// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Changes the level of the sound.
    public static let gain = UnitType(GainKernel.self)
}

/// Changes the level of the sound.
struct GainKernel: UnitKernel, ~Copyable {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "gain", manufacturer: "earshot"),
            name: "Gain", summary: "Makes the sound louder or softer.",
            parameters: [UnitParameter("gain", "Gain", .decibels, -96...24, default: 0)])
    }
    let latency = 0
    let memory = 0
    private var factor = LinearRamp(1)

    init(sampleRate: Double, channelCount: Int) {}

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        // The lowest value is silence, so that a fader can be closed.
        factor.move(to: values[0] <= -96 ? 0 : decibelsToGain(values[0]), over: frameCount)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        let rampCount = min(factor.remaining, block.frameCount)
        let startFactor = factor
        for c in 0..<block.output.count {
            let from = block.input[c] + block.offset
            let to = block.output[c] + block.offset
            factor = startFactor
            for i in 0..<rampCount { to[i] = from[i] * factor.next() }
            scaleSamples(to + rampCount, from + rampCount, block.frameCount &- rampCount, gain: factor.value)
        }
    }

    @_noLocks
    mutating func reset() { factor.finish() }

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
