// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import CKernels
import EarshotAudioBase
import EarshotAudioEngine
import PairedTimes
import UnitMeasures

/// A complete mixer node compared with the plain sum.
enum MixerCost {
    private static let inputs = 32
    private static let frames = 64

    static func figures() throws -> [Report] {
        let mixed = try EngineRun(Graphs.mixer(inputs: inputs))
        let none = try EngineRun(Graphs.chain(0) { Graphs.emptyUnit() })
        let node = Difference(repetitions: 201, operations: 100) {
            mixed.blocks(100)
        } less: {
            none.blocks(100)
        }
        let sum = Kernel()
        let (bare, metered) = (sum.times(isMetered: false), sum.times(isMetered: true))
        let times = "\(decimal(node.median, 0)) ns"
        return [
            Report(
                "a mixer of \(inputs) stereo inputs, 64 frames, with ramps and \(inputs + 1) meters, \(times) beside "
                    + "\(decimal(bare.median, 0)) ns", node.median / bare.median, least: node.least / bare.least,
                "times the duration", nil, against: "the sum alone in C, clang -O3"),
            Report(
                "the same, \(times) beside \(decimal(metered.median, 0)) ns", node.median / metered.median,
                least: node.least / metered.least, "times the duration", .atMost(1),
                against: "the sum and two plain loops a meter, peak and sum of squares, in C, clang -O3"),
        ]
    }

    private final class Kernel {
        let from = AudioBuffer(channelCount: 2, frameCapacity: frames)
        let to = AudioBuffer(channelCount: 2, frameCapacity: frames)
        let sources = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: inputs)
        let gains = UnsafeMutablePointer<Float>.allocate(capacity: inputs)
        var meters = [Float](repeating: 0, count: 2 * inputs + 2)

        init() {
            for k in 0..<inputs { gains[k] = 0.01 * Float(k + 1) }
            for c in 0..<2 { for i in 0..<frames { from.channels[c][i] = 0.001 * Float(i % 17 - 8) } }
        }

        deinit {
            sources.deallocate()
            gains.deallocate()
        }

        func block(isMetered: Bool) {
            for c in 0..<2 {
                for k in 0..<inputs { sources[k] = from.channels[c] }
                clearSamples(to.channels[c], frames)
                ck_mix_fours(to.channels[c], sources, gains, inputs, frames)
                guard isMetered else { continue }
                for k in 0..<inputs {
                    meters[2 * k] = max(meters[2 * k], ck_peak(sources[k], frames))
                    meters[2 * k + 1] += ck_energy(sources[k], frames)
                }
                meters[2 * inputs] = max(meters[2 * inputs], ck_peak(to.channels[c], frames))
                meters[2 * inputs + 1] += ck_energy(to.channels[c], frames)
            }
        }

        func times(isMetered: Bool) -> (median: Double, least: Double) {
            let all = (0..<201).map { _ in
                nanoseconds(100) { for _ in 0..<100 { block(isMetered: isMetered) } }
            }
            return (median(all), all.min() ?? 0)
        }
    }
}
