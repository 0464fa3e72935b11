// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// Runs a unit over signals, as tests and benchmarks do.
public enum UnitDrive {
    /// Renders one array per channel through a unit in blocks of these lengths, repeated.
    /// - Parameter blocks: for example `[64]`, `[1]`, `[1, 4096, 17]`.
    public static func render(_ unit: UnitInstance, _ input: [[Float]], blocks: [Int] = [256]) -> [[Float]] {
        let frames = input[0].count
        let from = AudioBuffer(channelCount: unit.inputChannelCount, frameCapacity: max(1, frames))
        let to = AudioBuffer(channelCount: unit.outputChannelCount, frameCapacity: max(1, frames))
        return withExtendedLifetime((from, to)) {
            for c in 0..<min(input.count, unit.inputChannelCount) {
                for i in 0..<frames { from.channels[c][i] = input[c][i] }
            }
            var at = 0
            var k = 0
            while at < frames {
                let count = min(blocks[k % blocks.count], frames - at)
                unit.process(from.channels, to.channels, offset: at, frameCount: count)
                at += count
                k += 1
            }
            return (0..<unit.outputChannelCount).map { c in (0..<frames).map { to.channels[c][$0] } }
        }
    }

    /// A sine of one channel.
    public static func sine(_ frequency: Double, rate: Double, count: Int, amplitude: Double = 1) -> [Float] {
        (0..<count).map { Float(amplitude * sin(2 * Double.pi * frequency * Double($0) / rate)) }
    }

    /// Returns the difference of two signals in dB relative to the first's power; −300 if they are equal.
    public static func difference(_ a: [Float], _ b: [Float]) -> Double {
        precondition(a.count == b.count)
        var error = 0.0
        var power = 0.0
        for (x, y) in zip(a, b) {
            error += Double(x - y) * Double(x - y)
            power += Double(x) * Double(x)
        }
        return error == 0 ? -300 : 10 * log10(error / max(power, 1e-30))
    }
}
