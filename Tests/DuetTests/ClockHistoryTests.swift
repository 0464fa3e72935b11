// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotDuet

/// A card's clock, from callbacks that are not exact.
@Suite struct ClockHistoryTests {
    private static let rate = 48_000.0
    private static let latency = 0.0213

    /// The greatest and the typical error of a clock's times after 12 s, in frames.
    private func error(
        _ card: Card, seconds: Double, blockLength: Int = 128, isPlaying: Bool = true,
        lateness: (Double, inout SeededRandom) -> Double
    ) throws -> (largest: Double, loop: Double) {
        var random = SeededRandom(seed: 11)
        var loop = DelayLockedLoop(sampleRate: Self.rate)
        var history = ClockHistory(sampleRate: Self.rate, isPlaying: isPlaying)
        var blocks: [(block: DeviceBlock, time: HostTime)] = []
        for frame in stride(from: 0, to: Int64(seconds * Self.rate), by: blockLength) {
            let time = card.time(Double(frame))
            let start = SingerRig.hostTime(time + lateness(time, &random))
            let due = loop.update(sampleTime: frame, now: start)
            let block = DeviceBlock(
                sampleTime: frame, frameCount: blockLength, hostTime: due, latency: Self.latency,
                lateness: start.seconds(since: due))
            history.add(block)
            blocks.append((block, SingerRig.hostTime(time)))
        }
        let clock = try #require(history.smoothed)
        var largest = (smoothed: 0.0, loop: 0.0)
        for (block, time) in blocks where block.clockFrame > 12 * Self.rate {
            largest.smoothed = max(largest.smoothed, abs(clock.smoothed(block).hostTime.seconds(since: time)))
            largest.loop = max(largest.loop, abs(block.hostTime.seconds(since: time)))
        }
        return (largest.smoothed * Self.rate, largest.loop * Self.rate)
    }

    private let bending = Card(partsPerMillion: -150, latency: (0, 0), change: (20 * 48_000, -50))

    @Test(arguments: [(64, true), (128, false), (512, true)])
    func `a rate that changes at once is known where it changes`(blockLength: Int, isPlaying: Bool) throws {
        let error = try error(bending, seconds: 60, blockLength: blockLength, isPlaying: isPlaying) { _, random in
            0.000_3 * (2 * random.unit() - 1)
        }
        #expect(error.largest < 0.8 && error.loop > 4)
    }

    @Test func `callbacks that are only late show their due times`() throws {
        let error = try error(bending, seconds: 60) { _, random in -50e-6 * log(1 - random.unit()) }
        #expect(error.largest < 0.4 && error.loop > 4)
    }

    @Test func `stalls change nothing`() throws {
        let error = try error(bending, seconds: 120) { time, random in
            let stall = time.truncatingRemainder(dividingBy: 7) < 0.01 ? 0.006 * random.unit() : 0
            return stall - 20e-6 * log(1 - random.unit())
        }
        #expect(error.largest < 0.4 && error.loop > 4)
    }

    @Test func `a clock that drifts by some ppm in minutes is followed`() throws {
        var random = SeededRandom(seed: 12)
        var history = ClockHistory(sampleRate: Self.rate, isPlaying: false)
        func time(_ seconds: Double) -> Double { seconds + 3e-6 * 60 * sin(seconds / 60) }
        var blocks: [(DeviceBlock, HostTime)] = []
        for frame in stride(from: 0, to: Int64(600 * Self.rate), by: 128) {
            let due = SingerRig.hostTime(time(Double(frame) / Self.rate))
            let block = DeviceBlock(
                sampleTime: frame, frameCount: 128, hostTime: due, latency: 0,
                lateness: 50e-6 * (2 * random.unit() - 1))
            history.add(block)
            blocks.append((block, due))
        }
        let clock = try #require(history.smoothed)
        let largest = blocks.map { abs(clock.smoothed($0).hostTime.seconds(since: $1)) }.max() ?? 1
        #expect(largest * Self.rate < 0.3)
    }

    @Test func `a clock that jumps has a line before and one after it`() throws {
        var random = SeededRandom(seed: 13)
        var history = ClockHistory(sampleRate: Self.rate, isPlaying: true)
        func due(_ frame: Int64) -> HostTime {
            SingerRig.hostTime(Double(frame) / Self.rate + (frame >= 20 * 48_000 ? 0.25 : 0))
        }
        func block(_ frame: Int64) -> DeviceBlock {
            DeviceBlock(
                sampleTime: frame, frameCount: 100, hostTime: due(frame), latency: 0,
                lateness: 1e-4 * (2 * random.unit() - 1))
        }
        for frame in stride(from: 0, to: Int64(40 * Self.rate), by: 100) { history.add(block(frame)) }
        let clock = try #require(history.smoothed)
        for frame in stride(from: 0, to: Int64(40 * Self.rate), by: 100) {
            let error = clock.smoothed(block(frame)).hostTime.seconds(since: due(frame))
            #expect(abs(error) * Self.rate < 0.5)
        }
    }

    @Test func `exact callbacks, and a counter that runs back, have no smoothed clock`() {
        var exact = ClockHistory(sampleRate: Self.rate, isPlaying: true)
        var random = SeededRandom(seed: 14)
        var backward = exact
        for frame in stride(from: 0, to: Int64(20 * Self.rate), by: 128) {
            var block = DeviceBlock(
                sampleTime: frame, frameCount: 128, hostTime: SingerRig.hostTime(bending.time(Double(frame))),
                latency: 0)
            exact.add(block)
            block.lateness = 1e-4 * random.unit()
            backward.add(block)
        }
        #expect(exact.smoothed == nil)
        #expect(backward.smoothed != nil)
        backward.add(DeviceBlock(sampleTime: 5, frameCount: 128, hostTime: SingerRig.hostTime(21), latency: 0))
        #expect(backward.smoothed == nil)
    }
}
