// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation
import Testing

@Suite struct SpectrogramTests {
    @Test("A full-scale sine is 0 dB at its bin", arguments: [(1000.0, 48_000.0), (4321, 44_100), (3000, 16_000)])
    func sine(hertz: Double, rate: Double) {
        let bin = (hertz / rate * 1024).rounded()
        let samples = (0..<9000).map { Float(sin(2 * .pi * bin / 1024 * Double($0))) }
        let result = Spectrogram(samples: samples, sampleRate: rate)
        #expect(result.binCount == 513 && result.columnCount == (9000 - 1024) / 256 + 1)
        #expect(abs(result.binInterval - rate / 1024) < 1e-9)
        #expect(abs(result.columnInterval - 256 / rate) < 1e-9)
        for column in 0..<result.columnCount {
            #expect(abs(10 * log10(result[column, Int(bin)])) < 0.01)
            for far in 0..<513 where abs(far - Int(bin)) > 2 {
                #expect(10 * log10(result[column, far] + 1e-20) < -90)
            }
        }
    }

    @Test func aClickIsInItsColumn() {
        var samples = [Float](repeating: 0, count: 48_000)
        samples[30_000] = 1
        let result = Spectrogram(samples: samples, sampleRate: 48_000)
        let powers = (0..<result.columnCount).map { result[$0, 100] }
        let loudest = powers.indices.max { powers[$0] < powers[$1] } ?? 0
        let time = result.firstColumnTime + Double(loudest) * result.columnInterval
        #expect(abs(time - 30_000.0 / 48_000) <= result.columnInterval / 2)
        #expect(powers.filter { $0 > 0 }.count <= 4)
    }

    @Test(
        "Any number of samples gives the expected number of columns",
        arguments: [0, 1, 2, 1023, 1024, 1025, 1279, 1280, 5001])
    func lengths(count: Int) {
        let result = Spectrogram(samples: [Float](repeating: 0.5, count: count), sampleRate: 48_000)
        #expect(result.columnCount == (count == 0 ? 0 : max(1, (count - 1024) / 256 + 1)))
        #expect(result.powers.count == result.columnCount * result.binCount)
    }

    @Test func averagingBoundsTheColumnsAndKeepsTheLevel() {
        var noise = Noise(seed: 4)
        let samples = (0..<100_000).map { _ in noise.next() }
        let whole = Spectrogram(samples: samples, sampleRate: 48_000)
        let pooled = Spectrogram(samples: samples, sampleRate: 48_000, maximumColumnCount: 10)
        #expect(pooled.columnCount <= 10)
        let a = whole.powers.reduce(0, +) / Float(whole.columnCount)
        let b = pooled.powers.reduce(0, +) / Float(pooled.columnCount)
        #expect(abs(10 * log10(a / b)) < 0.5)
        #expect(pooled.columnInterval > whole.columnInterval)
    }
}
