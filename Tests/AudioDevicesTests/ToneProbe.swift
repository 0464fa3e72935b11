// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization

/// A callback that plays a different sine on each output, 1,000 Hz plus the output's number times 250 Hz at 48 kHz, and keeps the
/// captured sound.
final class ToneProbe: @unchecked Sendable {  // the device's thread writes, others read what `count` covers
    private struct Memory: ~Copyable {
        let count = Atomic<Int>(0)
        let amplitude: Float
        let inputs: UnsafeMutablePointer<Float>
        let inputCount: Int
    }

    static let capacity = 96_000
    private let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

    init(amplitude: Float, inputCount: Int) {
        let inputs = UnsafeMutablePointer<Float>.allocate(capacity: inputCount * Self.capacity)
        inputs.initialize(repeating: 0, count: inputCount * Self.capacity)
        memory.initialize(to: Memory(amplitude: amplitude, inputs: inputs, inputCount: inputCount))
    }

    deinit {
        memory.pointee.inputs.deallocate()
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    /// Captured frames.
    var count: Int { memory.pointee.count.load(ordering: .acquiring) }

    /// Returns the phase step of an output's sine in radians per frame.
    static func step(_ output: Int) -> Double { 2 * Double.pi * (1_000 + 250 * Double(output)) / 48_000 }

    /// Returns the last frames of an input.
    func tail(_ input: Int, _ frameCount: Int) -> [Double] {
        let count = count
        let from = memory.pointee.inputs + input * Self.capacity
        return (max(0, count - frameCount)..<count).map { Double(from[$0]) }
    }

    /// Finds an output's sine in the last 4,800 frames of an input: its amplitude, and the level of everything else below it, in
    /// dB.
    func tone(_ output: Int, heardBy input: Int) -> (amplitude: Double, distance: Double) {
        let heard = tail(input, 4_800)
        let step = Self.step(output)
        var (a, b) = (0.0, 0.0)
        for (i, sample) in heard.enumerated() {
            a += sample * cos(step * Double(i)) * 2 / Double(heard.count)
            b += sample * sin(step * Double(i)) * 2 / Double(heard.count)
        }
        var rest = 0.0
        for (i, sample) in heard.enumerated() {
            let error = sample - a * cos(step * Double(i)) - b * sin(step * Double(i))
            rest += error * error * 2 / Double(heard.count)
        }
        let power = a * a + b * b
        return (power.squareRoot(), 10 * log10(power / max(rest, 1e-30)))
    }

    var callback: RenderCallback {
        RenderCallback(context: memory) { context, cycle in
            guard let memory = context?.assumingMemoryBound(to: Memory.self),
                let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee
            else { return }
            for c in 0..<cycle.output.count {
                for i in 0..<cycle.frameCount {
                    let phase = ToneProbe.step(c) * Double(cycle.sampleTime + Int64(i))
                    cycle.output[c][i] = memory.pointee.amplitude * Float(sin(phase))
                }
            }
            let at = memory.pointee.count.load(ordering: .relaxed)
            guard at + cycle.frameCount <= ToneProbe.capacity else { return }
            for c in 0..<min(cycle.input.count, memory.pointee.inputCount) {
                copySamples(memory.pointee.inputs + c * ToneProbe.capacity + at, cycle.input[c], cycle.frameCount)
            }
            memory.pointee.count.store(at + cycle.frameCount, ordering: .releasing)
        }
    }
}
