// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotAudioDSP

/// Resamples a mono signal in blocks.
private func resample(
    _ input: [Float], from: Double, to: Double, block: Int, halfLength: Int = 16, step: ((Int) -> Double)? = nil
) -> [Float] {
    var resampler = Resampler(
        from: from, to: to, channelCount: 1, halfLength: halfLength, maximumFrameCount: max(1, block))
    let buffer = AudioBuffer(channelCount: 1, frameCapacity: block)
    var output: [Float] = []
    var taken = 0
    while true {
        if let step { resampler.step = step(output.count) }
        let needed = resampler.inputNeeded(for: block)
        guard taken + needed <= input.count else { return output }
        for i in 0..<needed { resampler.input[0][resampler.inputOffset + i] = input[taken + i] }
        taken += needed
        resampler.render(buffer.channels, frameCount: block, adding: needed)
        output.append(contentsOf: UnsafeBufferPointer(start: buffer.channels[0], count: block))
    }
}

@Suite struct ResamplerTests {
    @Test(arguments: [1, 7, 64, 470, 4096])
    func `at a ratio of one the signal passes unchanged`(block: Int) {
        let input = (0..<20_000).map { sine($0, frequency: 997, rate: 48_000) }
        let output = resample(input, from: 48_000, to: 48_000, block: block)
        #expect(output.count > 15_000)
        #expect(errorDecibels(output, Array(input.prefix(output.count))) < -120)
    }

    @Test(arguments: [
        (44_100.0, 48_000.0, 1_000.0), (48_000.0, 44_100.0, 1_000.0), (48_000.0, 44_100.0, 15_000.0),
        (16_000.0, 48_000.0, 3_000.0), (96_000.0, 44_100.0, 10_000.0), (8_000.0, 44_100.0, 1_000.0),
    ])
    func `a sine keeps its pitch, level and purity`(from: Double, to: Double, frequency: Double) {
        let input = (0..<Int(from)).map { sine($0, frequency: frequency, rate: from) }
        let output = resample(input, from: from, to: to, block: 128, halfLength: 32)
        let expected = output.indices.map { sine($0, frequency: frequency, rate: to) }
        let inside = 2_000..<(output.count - 100)
        #expect(errorDecibels(Array(expected[inside]), Array(output[inside])) < -70)
    }

    @Test(.enabled(if: earshot_vector_width() >= 8), arguments: [8, 16, 24, 160, 704])
    func `wide vector sums are bit-identical to narrow ones`(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        for _ in 0..<50 {
            let values = (0..<2 * count + 1).map { _ in Float(random.unit() * 2 - 1) }
            try values.withUnsafeBufferPointer { values in
                let a = try #require(values.baseAddress)
                // Also from an odd address.
                let (b, c) = (a + 1, a + count + 1)
                let narrow = earshot_dots(a, b, c, count)
                #expect(same(narrow, earshot_dots_8(a, b, c, count)))
                if earshot_vector_width() == 16 { #expect(same(narrow, earshot_dots_16(a, b, c, count))) }
                #expect(narrow.y.bitPattern == earshot_dot(a, c, count).bitPattern)
                #expect(narrow.y.bitPattern == earshot_dot_8(a, c, count).bitPattern)
                let plain = (0..<count).reduce(0) { $0 + Double(values[$1]) * Double(values[count + 1 + $1]) }
                #expect(abs(plain - Double(narrow.y)) < 1e-4)
            }
        }
    }

    @Test(.enabled(if: earshot_vector_width() >= 8), arguments: [16, 32, 64])
    func `wide vector interpolation is bit-identical to narrow`(taps: Int) {
        var random = SeededRandom(seed: UInt64(taps))
        let rows = (0..<257 * taps).map { _ in Float(random.unit() * 2 - 1) }
        let input = (0..<1_000).map { _ in Float(random.unit() * 2 - 1) }
        for step in [0.25, 0.999_7, 1.000_3, 0.918_75, 6.0] {
            let (start, stride) = (Int64(random.unit() * 0x1p40), Int64(step * 0x1p40))
            let blocks = [4, 8, 16].filter { $0 <= Int(earshot_vector_width()) }.map { width in
                var output = [Float](repeating: 0, count: 100)
                earshot_interpolate_by(Int32(width), input, rows, taps, start, stride, &output, 100)
                return output.map(\.bitPattern)
            }
            #expect(blocks.allSatisfy { $0 == blocks[0] })
            // Computes the last frame in a simple way.
            let at = start + 99 * stride
            let (first, row) = (Int(at >> 40), Int(at >> 32) & 255)
            let part = Double(at & 0xFFFF_FFFF) / 0x1p32
            let plain = (0..<taps).reduce(0.0) { sum, k in
                let (below, above) = (Double(rows[row * taps + k]), Double(rows[(row + 1) * taps + k]))
                return sum + Double(input[first + k]) * (below + (above - below) * part)
            }
            #expect(abs(plain - Double(Float(bitPattern: blocks[0][99]))) < 1e-4)
        }
    }

    private func same(_ a: SIMD2<Float>, _ b: SIMD2<Float>) -> Bool {
        a.x.bitPattern == b.x.bitPattern && a.y.bitPattern == b.y.bitPattern
    }

    @Test func `the block size does not change the output`() {
        let input = (0..<30_000).map { sine($0, frequency: 440, rate: 44_100) }
        let whole = resample(input, from: 44_100, to: 48_000, block: 1024)
        for block in [1, 3, 64, 441, 470] {
            let pieces = resample(input, from: 44_100, to: 48_000, block: block)
            let count = min(whole.count, pieces.count)
            #expect(errorDecibels(Array(whole.prefix(count)), Array(pieces.prefix(count))) < -100)
        }
    }

    @Test func `frequencies above half the lower rate do not alias`() {
        let input = (0..<48_000).map { sine($0, frequency: 23_000, rate: 48_000) }
        let output = resample(input, from: 48_000, to: 32_000, block: 128, halfLength: 32)
        let level = output.dropFirst(2_000).map { abs($0) }.max() ?? 1
        #expect(decibels(Double(level) / 0.5) < -70)
    }

    @Test func `a changing ratio does not click`() {
        let input = (0..<96_000).map { sine($0, frequency: 440, rate: 48_000) }
        let output = resample(input, from: 48_000, to: 48_000, block: 64) { $0 / 4_800 % 2 == 0 ? 0.998 : 1.002 }
        #expect(sineDefect(Array(output.dropFirst(500)), frequency: 440, rate: 48_000) < -60)
    }

    @Test func `rendering consumes exactly the requested input`() {
        var resampler = Resampler(from: 44_100, to: 48_000, channelCount: 2, maximumFrameCount: 512)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 512)
        var random = SeededRandom(seed: 3)
        var taken = 0
        var made = 0
        for _ in 0..<5_000 {
            let frames = Int.random(in: 0...512, using: &random)
            let needed = resampler.inputNeeded(for: frames)
            if frames > 0 {
                #expect(resampler.outputAvailable(afterAdding: needed) >= frames)
                if needed > 0 { #expect(resampler.outputAvailable(afterAdding: needed - 1) < frames) }
            }
            resampler.render(buffer.channels, frameCount: frames, adding: needed)
            taken += needed
            made += frames
        }
        #expect(abs(Double(made) * 44_100 / 48_000 - Double(taken)) < 40)
    }

    @Test func `no past sound remains after a reset`() {
        var resampler = Resampler(from: 48_000, to: 48_000, channelCount: 1, maximumFrameCount: 256)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 256)
        let needed = resampler.inputNeeded(for: 256)
        for i in 0..<needed { resampler.input[0][resampler.inputOffset + i] = 1 }
        resampler.render(buffer.channels, frameCount: 256, adding: needed)
        resampler.reset()
        let again = resampler.inputNeeded(for: 256)
        for i in 0..<again { resampler.input[0][resampler.inputOffset + i] = 0 }
        resampler.render(buffer.channels, frameCount: 256, adding: again)
        #expect((0..<256).allSatisfy { buffer.channels[0][$0] == 0 })
    }
}
