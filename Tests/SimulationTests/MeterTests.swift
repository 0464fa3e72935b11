// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotSimulation

@Suite struct MeterTests {
    @Test func `percentiles match the values to three digits`() throws {
        var meter = SpreadMeter()
        #expect(meter.spread == nil)
        for n in 1...1_000 { meter.add(Double(n) * 1e-4) }
        let spread = try #require(meter.spread)
        #expect(spread.least == 0.1 && spread.max == 100)
        #expect(abs(spread.p50 - 50) < 0.2 && abs(spread.p95 - 95) < 0.2 && abs(spread.p99 - 99) < 0.2)
    }

    @Test func `a series stays bounded however long it grows, and its means cover every value`() {
        var series = SeriesMeter()
        for n in 0..<100_000 {
            series.add(target: 1, depth: Double(n), mouthToEar: 2 * Double(n), at: Double(n) * 0.01)
            #expect(series.points.count <= SeriesMeter.capacity)
        }
        #expect(series.points.count > SeriesMeter.capacity / 2)
        #expect(series.points.reduce(0) { $0 + $1.count } == 100_000)
        let middle = series.points[series.points.count / 2]
        let expected = (Double(series.points.count / 2) + 0.5) * series.interval * 100
        #expect(abs(middle.depth / middle.count - expected) < 1)
        #expect(abs(middle.mouthToEar / middle.count - 2 * expected) < 2)
    }

    @Test func `speech-like noise is the same by blocks and by samples`() {
        for (first, count) in [(0, 5_000), (1_917, 7), (959, 1), (100_000, 2_048)] {
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
            SpeechLikeNoise(voice: 3).fill(buffer.channels[0], from: first, count: count)
            #expect((0..<count).allSatisfy { buffer.channels[0][$0] == speechLikeNoise(first + $0, voice: 3) })
        }
    }
}
