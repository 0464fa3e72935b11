// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import TestTraits
import Testing

@Suite(.optimized) struct TimeStretcherTests {
    private func stretch(
        _ signal: [Float], channels: Int = 1, piece: Int = 1_000, output: Int = 700, speed: (Int) -> Double
    ) -> [Float] {
        let stretcher = TimeStretcher(sampleRate: 48_000, channelCount: channels)
        let buffer = AudioBuffer(channelCount: channels, frameCapacity: output)
        var result: [Float] = []
        var fed = 0
        while true {
            stretcher.speed = speed(result.count)
            let count = stretcher.read(buffer.channels, frameCount: output)
            result += UnsafeBufferPointer(start: buffer.channels[channels - 1], count: count)
            if count == output { continue }
            if fed == signal.count {
                if count == 0, stretcher.position >= Double(fed) { return result }
                stretcher.finish()
                continue
            }
            let more = min(piece, stretcher.inputRoom, signal.count - fed)
            for c in 0..<channels {
                for i in 0..<more { stretcher.input[c][stretcher.inputOffset + i] = signal[fed + i] }
            }
            stretcher.append(more)
            fed += more
        }
    }

    @Test(arguments: [1, 333, 4_000])
    func `speed 1 passes the input unchanged bit for bit`(piece: Int) {
        let signal = (0..<50_001).map { sine($0, frequency: 333, rate: 48_000) }
        #expect(stretch(signal, channels: 2, piece: piece, output: 1_111) { _ in 1 } == signal)
        #expect(stretch([], piece: piece) { _ in 1 }.isEmpty)
    }

    @Test(arguments: [0.25, 0.5, 0.9, 1.1, 2, 4])
    func `length, level and pitch are right at any speed`(speed: Double) {
        for frequency in [61.3, 437.31, 2_713.9] {
            let signal = (0..<96_000).map { sine($0, frequency: frequency, rate: 48_000) }
            let result = stretch(signal) { _ in speed }
            #expect(abs(Double(result.count) - 96_000 / speed) <= 1)
            let middle = Array(result[2_000..<result.count - 4_000])
            #expect(abs(decibels(Double(middle.map(abs).max() ?? 0) / 0.5)) < 0.2)
            let crossings = middle.indices.dropLast().filter { middle[$0] < 0 && middle[$0 + 1] >= 0 }
            let found = Double(crossings.count - 1) * 48_000 / Double(crossings[crossings.count - 1] - crossings[0])
            #expect(abs(found / frequency - 1) < 0.0017, "\(found) Hz for \(frequency)")  // 3 cents
        }
    }

    @Test func `the output matches the input again once the speed returns to 1`() {
        let signal = (0..<200_000).map { sine($0, frequency: 100, rate: 48_000) }
        let result = stretch(signal) { $0 < 20_000 ? 1 : $0 < 60_000 ? 1.7 : 1 }
        #expect(sineDefect(Array(result[..<20_000]), frequency: 100, rate: 48_000) < -90)
        #expect(sineDefect(Array(result[63_000..<150_000]), frequency: 100, rate: 48_000) < -90)
    }
}
