// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Two cards with their own clocks as one device, on virtual time.
@Suite("AggregateCore", .optimized) struct AggregateCoreTests {
    private static func card(
        _ blocks: [Int], rate: Double = 48_000, ppm: Double = 0, jitter: SimulatedCard.Jitter = .none,
        script: [SimulatedCard.Event] = [], seed: UInt64 = 1
    ) -> SimulatedCard.Configuration {
        var card = SimulatedCard.Configuration(sampleRate: rate, blockFrameCount: blocks[0], driftPPM: ppm)
        card.blockFrameCounts = blocks
        card.jitter = jitter
        card.script = script
        card.seed = seed
        return card
    }

    private func expectSteady(
        _ rig: AggregateRig, from: Double, to: Double = .infinity, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (least, most, count) = rig.delays(from: from, to: to)
        #expect(count > 100, sourceLocation: sourceLocation)
        #expect(most - least < 0.0005, "\(least) to \(most) s", sourceLocation: sourceLocation)
        let off = (most + least) / 2 - rig.core.delay
        #expect(abs(off) < 0.0003, "delay \(most), said \(rig.core.delay)", sourceLocation: sourceLocation)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var input: SimulatedCard.Configuration
        var output: SimulatedCard.Configuration
        var seconds: Double
        var testDescription: String {
            "\(input.sampleRate) \(input.blockFrameCounts) \(input.driftPPM) to "
                + "\(output.sampleRate) \(output.blockFrameCounts) \(output.driftPPM), \(input.jitter)"
        }
    }

    static let cases = [
        Case(input: card([64], ppm: 300), output: card([64], ppm: -300), seconds: 600),
        Case(input: card([256], ppm: -300), output: card([256], ppm: 300), seconds: 60),
        Case(
            input: card([128], ppm: -300, jitter: .exponential(mean: 100e-6)),
            output: card([128], ppm: 300, jitter: .uniform(100e-6), seed: 2), seconds: 60),
        Case(input: card([441], rate: 44_100, ppm: 100), output: card([64], ppm: -50), seconds: 60),
        Case(input: card([64]), output: card([1_024], rate: 44_100, ppm: 300), seconds: 60),
        Case(input: card([160], rate: 16_000, ppm: 300), output: card([480], ppm: -300), seconds: 60),
        Case(input: card([470], ppm: 300), output: card([64], ppm: -300), seconds: 60),
        Case(input: card([64], ppm: 300), output: card([470], ppm: -300), seconds: 60),
        Case(
            input: card([470, 471, 441, 16], ppm: 300), output: card([64, 1, 333], ppm: -300), seconds: 60),
        Case(input: card([4_096], ppm: -300), output: card([16], ppm: 300), seconds: 60),
        Case(
            input: card([470], rate: 44_100, jitter: .uniform(100e-6)),
            output: card([64], ppm: 200, jitter: .exponential(mean: 100e-6)), seconds: 60),
    ]

    @Test("the delay is constant and the sound is undamaged", arguments: cases)
    func steady(_ test: Case) throws {
        let rig = try AggregateRig(test.input, test.output)
        let settled = test.input.jitter == .none ? 2.0 : 6
        rig.run(until: settled)
        let (dropped, inserted) = (rig.core.droppedFrameCount, rig.core.insertedFrameCount)
        rig.run(until: test.seconds)
        expectSteady(rig, from: settled)
        #expect(rig.defect(from: Int(settled), to: Int(test.seconds) - 1) < -60)
        #expect(rig.underruns.filter { $0 > settled } == [])
        #expect(rig.core.droppedFrameCount == dropped)
        #expect(rig.core.insertedFrameCount == inserted)
        // A block of each, the filter and the margin, plus the loudspeaker's own block.
        let blocks =
            Double(test.input.longestBlock) / test.input.sampleRate
            + 2 * Double(test.output.longestBlock) / test.output.sampleRate
        #expect(rig.core.delay < blocks + 0.006)
    }

    @Test(
        "the delay and the sound recover within a second after either card stalls", arguments: [true, false],
        [(64, 0.003), (64, 2), (470, 0.05), (470, 2), (1_024, 0.03), (1_024, 2.0)])
    func stall(_ isInput: Bool, _ stalled: (block: Int, length: Double)) throws {
        let length = stalled.length
        let stall = [SimulatedCard.Event.stall(at: 5, for: length)]
        let rig = try AggregateRig(
            Self.card([stalled.block], ppm: 300, script: isInput ? stall : []),
            Self.card([128], ppm: -300, script: isInput ? [] : stall))
        rig.run(until: 15)
        expectSteady(rig, from: 2, to: 5)
        expectSteady(rig, from: 6 + length)
        #expect(rig.defect(from: Int(length.rounded(.up)) + 6, to: 14) < -60)
    }

    @Test("a step in either crystal's frequency is tracked", arguments: [true, false])
    func driftStep(_ isInput: Bool) throws {
        let step = [SimulatedCard.Event.drift(at: 10, ppm: 100)]
        let rig = try AggregateRig(
            Self.card([128], script: isInput ? step : []), Self.card([128], script: isInput ? [] : step))
        rig.run(until: 60)
        expectSteady(rig, from: 2, to: 10)
        expectSteady(rig, from: 35)
        #expect(rig.underruns == [])
    }

    @Test("the delay recovers within a second after the machine was suspended", arguments: [5.0, 90])
    func suspended(_ length: Double) throws {
        let script = [SimulatedCard.Event.suspend(at: 5, for: length)]
        let rig = try AggregateRig(
            Self.card([128], ppm: 200, script: script), Self.card([64], ppm: -200, script: script))
        rig.run(until: 15 + length)
        expectSteady(rig, from: 6 + length)
    }

    @Test("an input whose callbacks are later than the margin gets a longer delay and then plays on")
    func lateInput() throws {
        let rig = try AggregateRig(
            Self.card([480], jitter: .exponential(mean: 0.001)), Self.card([64], ppm: 100))
        rig.run(until: 120)
        #expect(rig.underruns.filter { $0 > 60 }.count <= 2)
        #expect(rig.core.delay < 0.040)
    }

    @Test("without input callbacks the input is silent and output callbacks continue")
    func noInput() throws {
        let rig = try AggregateRig(Self.card([128]), Self.card([128]), inputCalls: false)
        rig.run(until: 3)
        #expect(rig.seconds.joined().allSatisfy { $0 == 0 })
        #expect(rig.loudspeaker.monitor.callCount > 1_000)
        #expect(!rig.core.isLocked)
        #expect(rig.core.insertedFrameCount == 0)
    }
}
