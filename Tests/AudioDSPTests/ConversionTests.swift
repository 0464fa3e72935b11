// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite struct ConversionTests {
    @Test func `rate conversions meet their measured limits`() {
        for figure in conversionFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `a shorter filter fails the measured limits`() {
        var short = ToneConverter(from: 48_000, to: 44_100, quality: .steerable(halfLength: 32))
        #expect(short.levels(22_300).rest > -40)
        #expect(abs(short.levels(21_000).tone) > 0.05)
        var up = ToneConverter(from: 44_100, to: 48_000, quality: .steerable(halfLength: 32))
        #expect(up.levels(15_000).rest > -110)
    }

    @Test(arguments: [(44_100.0, 48_000.0), (48_000, 8_000), (44_101.5, 48_000), (48_000, 48_000)])
    func `blocks of any length give bit-identical samples`(from: Double, to: Double) {
        let whole = convert(from: from, to: to, blocks: [4096], count: 8192)
        for blocks in [[1], [7, 64, 1, 513], [256]] {
            #expect(convert(from: from, to: to, blocks: blocks, count: 8192) == whole)
        }
    }

    @Test func `equal rates pass samples unchanged and without delay`() {
        let output = convert(from: 48_000, to: 48_000, blocks: [1, 100], count: 1000)
        #expect(output == (0..<1000).map { sine($0, frequency: 440, rate: 48_000) })
    }

    @Test func `the step of a fixed-ratio resampler cannot be changed`() {
        var fixed = Resampler(from: 44_100, to: 48_000, channelCount: 1, quality: .transparent)
        fixed.step = 1
        #expect(fixed.step == 44_100.0 / 48_000)
        var moved = Resampler(from: 44_100, to: 48_000, channelCount: 1)
        moved.step = 1.000_012_345
        #expect(abs(moved.step - 1.000_012_345) < 1e-12)
    }

    @Test func `input may be supplied ahead of demand`() {
        var resampler = Resampler(
            from: 44_100, to: 48_000, channelCount: 1, quality: .transparent, maximumFrameCount: 64, excess: 1000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 64)
        var taken = 0
        var output: [Float] = []
        while output.count < 6400 {
            while resampler.inputRoom >= 70, taken < 70 * (output.count / 64 + 10) {
                for i in 0..<70 {
                    resampler.input[0][resampler.inputOffset + i] = sine(taken + i, frequency: 440, rate: 44_100)
                }
                resampler.append(70)
                taken += 70
            }
            #expect(resampler.inputNeeded(for: 64) == 0 && resampler.outputAvailable(afterAdding: 0) >= 64)
            resampler.render(block.channels, frameCount: 64)
            output.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: 64))
        }
        #expect(output == convert(from: 44_100, to: 48_000, blocks: [64], count: 6400))
    }

    /// Converts 440 Hz.
    private func convert(from: Double, to: Double, blocks: [Int], count: Int) -> [Float] {
        var resampler = Resampler(
            from: from, to: to, channelCount: 1, quality: .transparent, maximumFrameCount: 4096)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4096)
        var output: [Float] = []
        var taken = 0
        var k = 0
        while output.count < count {
            let frames = min(blocks[k % blocks.count], count - output.count)
            k += 1
            let needed = resampler.inputNeeded(for: frames)
            let input = resampler.input[0] + resampler.inputOffset
            for i in 0..<needed { input[i] = sine(taken + i, frequency: 440, rate: from) }
            taken += needed
            resampler.render(block.channels, frameCount: frames, adding: needed)
            output.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: frames))
        }
        return output
    }
}
