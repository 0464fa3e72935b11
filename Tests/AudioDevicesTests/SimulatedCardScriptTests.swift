// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotAudioDevices

/// Tests a card's events, on virtual time.
@Suite("SimulatedCard with a script") struct SimulatedCardScriptTests {
    static let origin = HostTime(nanoseconds: 1_000_000_000)

    struct Call: Equatable {
        var sampleTime: Int64
        var frameCount: Int
        var hostTime: Double
        var calledAt: Double
        var lateness: Double
    }

    private func calls(
        _ card: SimulatedCard, until end: Double, _ body: (IOCycle) -> Void = { _ in }
    ) -> [Call] {
        card.renderer.start(at: Self.origin)
        var calls: [Call] = []
        while true {
            let now = card.renderer.nextCallTime
            if now.seconds(since: Self.origin) > end { return calls }
            if let vanishing = card.renderer.vanishingTime, now >= vanishing { return calls }
            let cycle = card.renderer.beginCycle(at: now)
            body(cycle)
            card.renderer.endCycle(at: now)
            calls.append(
                Call(
                    sampleTime: cycle.sampleTime, frameCount: cycle.frameCount,
                    hostTime: cycle.hostTime.seconds(since: Self.origin), calledAt: now.seconds(since: Self.origin),
                    lateness: cycle.lateness))
        }
    }

    private func card(
        _ block: Int, script: [SimulatedCard.Event] = [],
        _ change: (inout SimulatedCard.Configuration) -> Void = { _ in }
    ) throws -> SimulatedCard {
        var configuration = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: block)
        configuration.script = script
        change(&configuration)
        return try SimulatedCard(configuration)
    }

    @Test("each callback knows how much earlier or later than due it is") func lateness() throws {
        let calls = try calls(card(128) { $0.jitter = .uniform(1e-4) }, until: 5)
        #expect(calls.allSatisfy { abs($0.hostTime + $0.lateness - $0.calledAt) < 2e-9 })
        #expect(calls.contains { $0.lateness > 5e-5 } && calls.contains { $0.lateness < -5e-5 })
        #expect(try self.calls(card(128), until: 1).allSatisfy { $0.lateness == 0 })
    }

    @Test(
        "no callback is made during a stall, and the frame counter jumps by its length",
        arguments: [16, 64, 480, 4_096])
    func stall(_ block: Int) throws {
        let card = try card(block, script: [.stall(at: 1, for: 2)])
        let calls = calls(card, until: 5)
        #expect(!calls.contains { $0.calledAt > 1 && $0.calledAt < 3 })
        for call in calls {
            #expect(abs(call.hostTime - Double(call.sampleTime + Int64(block)) / 48_000) < 1e-8)
        }
        let jumps = zip(calls, calls.dropFirst()).map { $1.sampleTime - $0.sampleTime - Int64(block) }.filter {
            $0 != 0
        }
        #expect(jumps.count == 1)
        #expect(abs(Double(jumps.first ?? 0) / 48_000 - 2) <= 2 * Double(block) / 48_000)
        #expect(jumps.first == Int64(card.monitor.skippedFrameCount))
        #expect(card.monitor.xrunCount == 1)
    }

    @Test(
        "the clock jumps over a system suspend, but the frame counter does not", arguments: [16, 480, 4_096], [5.0, 90])
    func suspend(_ block: Int, _ length: Double) throws {
        let card = try card(block, script: [.suspend(at: 1, for: length)])
        let calls = calls(card, until: length + 3)
        for (a, b) in zip(calls, calls.dropFirst()) {
            #expect(b.sampleTime == a.sampleTime + Int64(block))
            let spent = b.hostTime - a.hostTime - Double(block) / 48_000
            #expect(abs(spent) < 1e-8 || abs(spent - length) < 1e-8)
        }
        #expect(
            calls.last.map { abs($0.hostTime - length - Double($0.sampleTime + Int64(block)) / 48_000) < 1e-8 } == true)
        #expect(!calls.contains { $0.calledAt > 1 && $0.calledAt < 1 + length })
        #expect(card.monitor.xrunCount == 0)
    }

    @Test("a card's clock rate changes at the scripted time", arguments: [64, 470])
    func drift(_ block: Int) throws {
        let card = try card(block, script: [.drift(at: 20, ppm: -300), .drift(at: 10, ppm: 300)])
        let calls = calls(card, until: 30)
        #expect(calls.count > 29 * 48_000 / block)
        for call in calls {
            let t = call.hostTime
            let frames = 48_000 * (t + 300e-6 * max(0, min(10, t - 10)) - 300e-6 * max(0, t - 20))
            #expect(abs(frames - Double(call.sampleTime + Int64(block))) < 1e-3)
        }
    }

    @Test("a card makes no callbacks after it vanishes")
    func vanish() throws {
        let card = try card(64, script: [.vanish(at: 1)])
        #expect(calls(card, until: 3).last.map { $0.calledAt <= 1 && $0.calledAt > 0.99 } == true)
        #expect(try self.card(64).renderer.vanishingTime == nil)
    }

    @Test("block sizes vary, and input reaches output after two of the longest blocks")
    func blocks() throws {
        let (source, sink) = (
            AudioRing(channelCount: 1, capacity: 1 << 16), AudioRing(channelCount: 1, capacity: 1 << 16)
        )
        let ramp = AudioBuffer(channelCount: 1, frameCapacity: 60_000)
        for i in 0..<60_000 { ramp.channels[0][i] = Float(i + 1) }
        source.writer.write(ramp.channels, frameCount: 60_000)
        let sizes = [470, 471, 441, 16, 4_096]
        let card = try card(256) {
            $0.blockFrameCounts = sizes
            ($0.source, $0.sink) = (source, sink)
        }
        var latencies: Set<Int> = []
        let calls = calls(card, until: 1) { cycle in
            copySamples(cycle.output[0], cycle.input[0], cycle.frameCount)
            latencies.insert(Int(((cycle.inputLatency + cycle.outputLatency) * 48_000).rounded()))
        }
        for (i, call) in calls.enumerated() {
            #expect(call.frameCount == sizes[i % 5])
            #expect(abs(call.hostTime - Double(call.sampleTime + Int64(call.frameCount)) / 48_000) < 1e-8)
        }
        #expect(latencies == [8_192])
        #expect(card.firstOutputFrameTime == Self.origin.advanced(bySeconds: 8_192.0 / 48_000))
        #expect(card.monitor.xrunCount == 0)
        let count = sink.reader.read(ramp.channels, frameCount: 60_000).frameCount
        #expect(count > 40_000)
        #expect((0..<count).allSatisfy { ramp.channels[0][$0] == Float($0 + 1) })
    }

    @Test("jitter follows its distribution, repeats for a seed, and the host time is smoothed")
    func jitter() throws {
        for (jitter, range, mean) in [
            (SimulatedCard.Jitter.uniform(100e-6), -100e-6...100e-6, 0.0),
            (.exponential(mean: 100e-6), 0...1e-3, 100e-6),
        ] {
            let runs: [[Call]] = try [1 as UInt64, 1, 2].map { seed in
                calls(
                    try card(256) {
                        $0.jitter = jitter
                        $0.seed = seed
                    }, until: 30)
            }
            #expect(runs[0] == runs[1])
            #expect(runs[0] != runs[2])
            func due(_ call: Call) -> Double { Double(call.sampleTime + 256) / 48_000 }
            let late: [Double] = runs[0].map { $0.calledAt - due($0) }
            let total: Double = late.reduce(0, +)
            #expect(late.allSatisfy { range.contains($0) })
            #expect(abs(total / Double(late.count) - mean) < 5e-6)
            let settled = runs[0].filter { $0.calledAt > 5 }
            let errors: [Double] = settled.map { abs($0.hostTime - due($0)) }
            #expect(errors.sorted()[errors.count * 99 / 100] < 20e-6)
        }
    }

    @Test("channels are routed by the channel maps")
    func maps() throws {
        let (source, sink) = (AudioRing(channelCount: 2, capacity: 64), AudioRing(channelCount: 3, capacity: 64))
        let buffer = AudioBuffer(channelCount: 3, frameCapacity: 4)
        for c in 0..<2 { for i in 0..<4 { buffer.channels[c][i] = Float(10 * c + i + 1) } }
        source.writer.write(buffer.channels, frameCount: 4)
        let card = try card(4) {
            ($0.inputChannelCount, $0.outputChannelCount) = (2, 3)
            ($0.source, $0.sink) = (source, sink)
            $0.inputChannelMap = [1, 7, 0]
            $0.outputChannelMap = [[2], [0, 2], [5]]
        }
        _ = calls(card, until: 4.5 / 48_000) { cycle in
            #expect((0..<3).map { cycle.input[$0][0] } == [11, 0, 1])
            for c in 0..<3 { for i in 0..<4 { cycle.output[c][i] = Float(c + 1) } }
        }
        _ = sink.reader.read(buffer.channels, frameCount: 4)
        #expect((0..<3).map { buffer.channels[$0][3] } == [2, 0, 3])
    }

    @Test("the remainder of a scripted event is computed after part of the script has elapsed")
    func remaining() {
        typealias Event = SimulatedCard.Event
        #expect(Event.stall(at: 5, for: 2).remaining(after: 1) == .stall(at: 4, for: 2))
        #expect(Event.suspend(at: 5, for: 2).remaining(after: 6) == .suspend(at: 0, for: 1))
        #expect(Event.stall(at: 5, for: 2).remaining(after: 7) == nil)
        #expect(Event.drift(at: 5, ppm: 9).remaining(after: 7) == .drift(at: 0, ppm: 9))
        #expect(Event.vanish(at: 5).remaining(after: 7) == nil)
        #expect(Event.vanish(at: 5, for: 1).remaining(after: 7) == nil)
    }

    @Test(
        "invalid events, jitter values and block sizes are rejected",
        arguments: [
            SimulatedCard.Event.stall(at: -1, for: 1), .stall(at: 1, for: 0), .suspend(at: .nan, for: 1),
            .drift(at: 1, ppm: 20_000), .vanish(at: 1, for: -1),
        ])
    func refused(_ event: SimulatedCard.Event) {
        #expect(throws: AudioDeviceError.self) { try card(64, script: [event]) }
        #expect(throws: AudioDeviceError.self) { try card(64) { $0.jitter = .uniform(-1) } }
        #expect(throws: AudioDeviceError.self) { try card(64) { $0.blockFrameCounts = [64, 0] } }
    }
}
