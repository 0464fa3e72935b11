// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import TestSupport
import Testing

@testable import EarshotCall

/// Ramps of gains, in blocks of any length.
@Suite struct GainRampTests {
    private static let rate = 48_000.0

    /// Returns sound that a gain scales in place, or scales and adds to silence.
    /// - Parameters:
    ///   - blockFrameCount: the frames of a block.
    ///   - changes: the frames from which blocks request a gain. At first the gain is 1.
    ///   - adds: true if the sound is added to silence.
    private static func scaled(
        _ sound: (Int) -> Float, blockFrameCount: Int, changes: [(frame: Int, gain: Float)], adds: Bool = false
    ) -> [Float] {
        var ramp = GainRamp(1, sampleRate: rate)
        let block = AudioBuffer(channelCount: 2, frameCapacity: blockFrameCount)
        let mix = AudioBuffer(channelCount: 2, frameCapacity: blockFrameCount)
        var output: [Float] = []
        while output.count < 14_400 {
            for c in 0..<2 {
                for i in 0..<blockFrameCount { block.channels[c][i] = sound(output.count + i) }
                clearSamples(mix.channels[c], blockFrameCount)
            }
            if let change = changes.last(where: { $0.frame <= output.count }) {
                ramp.begin(change.gain, blockFrameCount)
            }
            if adds {
                ramp.add(block.channels, to: mix.channels, blockFrameCount)
            } else {
                ramp.scale(block.channels, blockFrameCount)
            }
            output += UnsafeBufferPointer(start: (adds ? mix : block).channels[1], count: blockFrameCount)
        }
        return output
    }

    @Test(arguments: [1, 16, 37, 64, 128, 240, 480, 1_024], [true, false])
    func `a change makes no click, also during another change`(blockFrameCount: Int, adds: Bool) {
        let output = Self.scaled(
            { sine($0, frequency: 100, rate: Self.rate, amplitude: 0.2) }, blockFrameCount: blockFrameCount,
            changes: [(2_520, 0), (5_160, 1), (7_440, 0.5), (7_560, 0.9), (10_200, 0)], adds: adds)
        var meter = ClickMeter(rate: Self.rate)
        for sample in output { meter.add(sample) }
        #expect(meter.level < -60, "\(meter.level) dBFS")
    }

    @Test(arguments: [1, 16, 37, 64, 128, 240, 480, 1_024])
    func `a ramp takes 5 ms or a longer block, and its end is exact`(blockFrameCount: Int) {
        let output = Self.scaled({ _ in 1 }, blockFrameCount: blockFrameCount, changes: [(0, 0.3)])
        let rampCount = max(240, blockFrameCount)
        for (n, sample) in output[..<rampCount].enumerated() {
            let expected = 1 - 0.7 * Float(n + 1) / Float(rampCount)
            #expect(abs(sample - expected) < 1e-4, "\(n): \(sample)")
        }
        let isExact = output[rampCount...].allSatisfy { $0 == 0.3 }
        #expect(isExact)
    }

    @Test func `unity and silence are reported after the ramp`() {
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        clearSamples(block.channels[0], 128)
        var ramp = GainRamp(1, sampleRate: Self.rate)
        #expect(ramp.isUnity && !ramp.isSilent)
        ramp.begin(0, 128)
        #expect(!ramp.isUnity && !ramp.isSilent)
        ramp.scale(block.channels, 128)
        #expect(!ramp.isSilent)
        ramp.scale(block.channels, 128)
        #expect(!ramp.isUnity && ramp.isSilent)
        ramp.reset(1)
        #expect(ramp.isUnity)
    }
}
