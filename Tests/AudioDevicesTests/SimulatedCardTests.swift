// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

/// Tests the card on virtual time: every time is an argument.
@Suite("SimulatedCard") struct SimulatedCardTests {
    static let origin = HostTime(nanoseconds: 1_000_000_000)

    /// A card between two rings, with 1, 2, 3… in its source.
    struct Bench {
        let source = AudioRing(channelCount: 1, capacity: 1 << 17)
        let sink = AudioRing(channelCount: 1, capacity: 1 << 17)
        let card: SimulatedCard
        let block: Int

        init(block: Int, sampleRate: Double = 48_000, driftPPM: Double = 0, frames: Int = 50_000) throws {
            self.block = block
            let ramp = AudioBuffer(channelCount: 1, frameCapacity: max(1, frames))
            for i in 0..<frames { ramp.channels[0][i] = Float(i + 1) }
            source.writer.write(ramp.channels, frameCount: frames)
            card = try SimulatedCard(
                .init(
                    sampleRate: sampleRate, blockFrameCount: block, driftPPM: driftPPM, source: source, sink: sink))
            card.renderer.start(at: SimulatedCardTests.origin)
        }

        /// Runs a cycle that begins `late` after its due time, copies input to output, and takes `duration` nanoseconds.
        @discardableResult
        func cycle(late: Int64 = 0, duration: Int64 = 1_000) -> IOCycle {
            let start = HostTime(nanoseconds: card.renderer.nextCallTime.nanoseconds + late)
            let cycle = card.renderer.beginCycle(at: start)
            copySamples(cycle.output[0], cycle.input[0], cycle.frameCount)
            card.renderer.endCycle(at: HostTime(nanoseconds: start.nanoseconds + duration))
            return cycle
        }

        func heard() -> [Float] {
            let count = sink.reader.heldFrames
            guard count > 0 else { return [] }
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
            _ = sink.reader.read(buffer.channels, frameCount: count)
            return Array(UnsafeBufferPointer(start: buffer.channels[0], count: count))
        }
    }

    @Test("a microphone that waits for the loudspeaker begins with its first sound") func followsSound() throws {
        let source = AudioRing(channelCount: 1, capacity: 256)
        let words = AudioBuffer(channelCount: 1, frameCapacity: 100)
        for i in 0..<100 { words.channels[0][i] = Float(i + 1) }
        source.writer.write(words.channels, frameCount: 100)
        var configuration = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 16, source: source)
        configuration.sourceFollowsSound = true
        let card = try SimulatedCard(configuration)
        card.renderer.start(at: Self.origin)
        var captured: [Float] = []
        for block in 0..<8 {
            let now = card.renderer.nextCallTime
            let cycle = card.renderer.beginCycle(at: now)
            captured += (0..<16).map { cycle.input[0][$0] }
            // The first sound is frame 37, which leaves the card when frame 69 enters it.
            if block == 2 { cycle.output[0][5] = 0.1 }
            card.renderer.endCycle(at: HostTime(nanoseconds: now.nanoseconds + 1_000))
        }
        #expect(captured[..<69].allSatisfy { abs($0) <= 1e-5 && $0 != 0 })
        #expect(Array(captured[69...]) == (1...59).map { Float($0) })
    }

    @Test("a card retains its rings") func keepsRings() throws {
        var rings: (AudioRing?, AudioRing?) = (
            AudioRing(channelCount: 1, capacity: 64), AudioRing(channelCount: 1, capacity: 64)
        )
        weak let source = rings.0
        weak let sink = rings.1
        let card = try SimulatedCard(
            .init(sampleRate: 48_000, blockFrameCount: 16, source: rings.0, sink: rings.1))
        rings = (nil, nil)
        #expect(source != nil && sink != nil)
        withExtendedLifetime(card) {}
    }

    @Test("input reaches output after exactly two blocks", arguments: [1, 64, 470, 4_096])
    func loopBack(_ block: Int) throws {
        let bench = try Bench(block: block)
        for _ in 0..<10 { bench.cycle() }
        #expect(bench.heard() == (1...10 * block).map { Float($0) })
        let (input, output) = (bench.card.firstInputFrameTime, bench.card.firstOutputFrameTime)
        #expect(input == Self.origin)
        #expect(output == Self.origin.advanced(bySeconds: 2 * Double(block) / 48_000))
        #expect(bench.card.monitor.xrunCount == 0)
    }

    @Test("a callback is due when the last sample of its block has arrived", arguments: [1, 470, 4_096])
    func callTimes(_ block: Int) throws {
        let bench = try Bench(block: block)
        for q in 1...10 {
            let cycle = bench.cycle(late: 100)
            #expect(cycle.hostTime == Self.origin.advanced(bySeconds: Double(q * block) / 48_000))
            #expect(cycle.sampleTime == Int64((q - 1) * block))
            #expect(cycle.inputLatency == Double(block) / 48_000)
            #expect(cycle.outputLatency == Double(block) / 48_000)
        }
        let record = try #require(bench.card.monitor.nextRecord())
        #expect(record.frameCount == block)
        #expect(record.duration == 1_000)
        #expect(record.lateness == 100)
    }

    @Test("drift is exact over a minute", arguments: [0.0, 20, -20, 300, -300], [64, 441])
    func drift(_ ppm: Double, block: Int) throws {
        let bench = try Bench(block: block, sampleRate: 44_100, driftPPM: ppm, frames: 0)
        let end = Self.origin.advanced(bySeconds: 60)
        var frames = 0
        var last = Self.origin
        while bench.card.renderer.nextCallTime <= end {
            last = bench.cycle(duration: 1).hostTime
            frames += block
        }
        let measured = (Double(frames) / last.seconds(since: Self.origin) / 44_100 - 1) * 1e6
        #expect(abs(measured - ppm) < 0.001)
        #expect(bench.card.monitor.xrunCount == 0)
    }

    @Test("a callback that ends late causes one silent period and shifts no frames", arguments: [1, 64, 470])
    func lateEnd(_ block: Int) throws {
        let bench = try Bench(block: block)
        let period = Int64(Double(block) * 1e9 / 48_000)
        bench.cycle()
        bench.cycle(duration: period + period / 2)
        let next = bench.cycle(late: period / 2, duration: 10)
        bench.cycle()
        #expect(next.sampleTime == Int64(2 * block))
        var expected = (1...4 * block).map { Float($0) }
        for i in block..<2 * block { expected[i] = 0 }
        #expect(bench.heard() == expected)
        #expect(bench.card.monitor.xrunCount == 1)
        #expect(bench.card.monitor.overBudgetCount == 1)
        #expect(bench.card.monitor.skippedFrameCount == 0)
        #expect(bench.card.monitor.nextXRun()?.hostTime.nanoseconds ?? 0 > Self.origin.nanoseconds)
        #expect(bench.card.monitor.nextXRun() == nil)
    }

    @Test(
        "a callback that ends several periods late skips the periods that it cannot serve", arguments: [1, 64, 470],
        [2, 3, 7])
    func longCall(_ block: Int, periods: Int) throws {
        let bench = try Bench(block: block)
        let period = Int64(Double(block) * 1e9 / 48_000)
        bench.cycle()
        bench.cycle(duration: Int64(periods) * period + period / 2)
        let next = bench.cycle(late: period / 2, duration: 10)
        bench.cycle()
        // The second callback ended `periods` and a half periods after its due time. As many callbacks were due since, of which
        // the last can still be served.
        let skipped = periods - 1
        #expect(next.sampleTime == Int64((2 + skipped) * block))
        var expected = (1...(4 + skipped) * block).map { Float($0) }
        for i in block..<(2 + skipped) * block { expected[i] = 0 }
        #expect(bench.heard() == expected)
        #expect(bench.card.monitor.xrunCount == 1)
        #expect(bench.card.monitor.skippedFrameCount == skipped * block)
    }

    @Test("a callback that begins several periods late is counted as an xrun", arguments: [1, 64, 470])
    func lateStart(_ block: Int) throws {
        let bench = try Bench(block: block)
        let period = Int64(Double(block) * 1e9 / 48_000)
        bench.cycle()
        let late = bench.cycle(late: 3 * period + period / 2, duration: 10)
        #expect(late.sampleTime == Int64(4 * block))
        var expected = (1...5 * block).map { Float($0) }
        for i in block..<4 * block { expected[i] = 0 }
        #expect(bench.heard() == expected)
        #expect(bench.card.monitor.xrunCount == 1)
        #expect(bench.card.monitor.skippedFrameCount == 3 * block)
    }

    @Test("an exhausted source is followed by silence, which is counted as starved frames")
    func starved() throws {
        let bench = try Bench(block: 64, frames: 100)
        for _ in 0..<3 { bench.cycle() }
        #expect(bench.heard() == (1...192).map { $0 <= 100 ? Float($0) : 0 })
        #expect(bench.card.starvedFrameCount == 92)
    }

    @Test("stereo channels are not swapped or mixed")
    func stereo() throws {
        let (source, sink) = (AudioRing(channelCount: 2, capacity: 64), AudioRing(channelCount: 2, capacity: 64))
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 3)
        for c in 0..<2 { for i in 0..<3 { buffer.channels[c][i] = Float(10 * c + i + 1) } }
        source.writer.write(buffer.channels, frameCount: 3)
        let card = try SimulatedCard(
            .init(
                sampleRate: 48_000, blockFrameCount: 3, inputChannelCount: 2, outputChannelCount: 2,
                source: source, sink: sink))
        card.renderer.start(at: Self.origin)
        let cycle = card.renderer.beginCycle(at: card.renderer.nextCallTime)
        for c in 0..<2 { copySamples(cycle.output[c], cycle.input[1 - c], 3) }
        card.renderer.endCycle(at: card.renderer.nextCallTime)
        _ = sink.reader.read(buffer.channels, frameCount: 3)
        #expect((0..<3).map { buffer.channels[0][$0] } == [11, 12, 13])
        #expect((0..<3).map { buffer.channels[1][$0] } == [1, 2, 3])
    }

    @Test(
        "invalid card configurations are rejected",
        arguments: [
            SimulatedCard.Configuration(sampleRate: 4_000, blockFrameCount: 64),
            .init(sampleRate: .nan, blockFrameCount: 64), .init(sampleRate: 48_000, blockFrameCount: 0),
            .init(sampleRate: 48_000, blockFrameCount: 8_193),
            .init(sampleRate: 48_000, blockFrameCount: 64, inputChannelCount: -1),
            .init(sampleRate: 48_000, blockFrameCount: 64, outputChannelCount: 33),
            .init(sampleRate: 48_000, blockFrameCount: 64, driftPPM: .nan),
        ])
    func refused(_ configuration: SimulatedCard.Configuration) {
        #expect(throws: AudioDeviceError.self) { try SimulatedCard(configuration) }
    }
}
