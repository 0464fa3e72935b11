// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite(.optimized) struct LimiterTests {
    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000, 384_000])
    func `the limiter is a pure delay of its latency below the ceiling`(rate: Double) {
        let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 2)
        let input = DynamicsTests.sound(6_000, seed: 1, scale: 0.25)
        let output = UnitDrive.render(unit, [input, input])
        let late = Array(output[1].dropFirst(unit.latency))
        #expect(UnitDrive.difference(Array(input.dropLast(unit.latency)), late) == -300)
        #expect(output[1].prefix(unit.latency).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [8_000.0, 96_000, 192_000])
    func `the limiter keeps its ceiling at other sample rates`(rate: Double) {
        let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 1)
        unit.set([-6, 0.005, 12])
        let output = UnitDrive.render(unit, [DynamicsTests.sound(12_000, seed: 2)])[0]
        #expect(decibels(TruePeakReference.peak(output)) <= -5.9)
    }

    @Test(arguments: 0..<12)
    func `bursts of any sound stay below the ceiling at any release and gain`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var sound = [Float](repeating: 0, count: 6_000)
        var at = 300
        while at < 5_400 {
            let length = 1 + Int(random.unit() * random.unit() * 600)
            let frequency = random.unit() * 0.45
            let level = 4 * random.unit()
            for i in at..<min(5_400, at + length) {
                let wave = sine(i, frequency: frequency, rate: 1, amplitude: level)
                sound[i] =
                    switch seed % 4 {
                    case 0: wave
                    case 1: Float(level * (2 * random.unit() - 1))
                    case 2: Float(wave > 0 ? level : -level)
                    default: random.unit() < 0.05 ? Float(2 * level * (2 * random.unit() - 1)) : 0
                    }
            }
            at += length + Int(random.unit() * 300)
        }
        let unit = UnitType.limiter.makeUnit(sampleRate: seed % 2 == 0 ? 44_100 : 48_000, channelCount: 1)
        unit.set([-1, [0.005, 0.06, 1][seed % 3], [0, 12, 36][seed / 4]])
        #expect(decibels(TruePeakReference.peak(UnitDrive.render(unit, [sound])[0])) <= -0.9)
    }

    @Test func `both channels are limited by the same gain`() {
        let unit = UnitType.limiter.makeUnit(sampleRate: 48_000, channelCount: 2)
        let loud = UnitDrive.sine(300, rate: 48_000, count: 24_000, amplitude: 4)
        let soft = UnitDrive.sine(300, rate: 48_000, count: 24_000, amplitude: 1)
        let output = UnitDrive.render(unit, [loud, soft])
        for i in 12_000..<24_000 { #expect(abs(output[0][i] - 4 * output[1][i]) < 1e-4) }
    }

    @Test func `a lowered ceiling holds as soon as the lookahead has passed`() {
        let unit = UnitType.limiter.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set([0, 0.06, 0])
        let input = UnitDrive.sine(12_000.1, rate: 48_000, count: 9_600, amplitude: 0.2)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 9_600)
        for i in 0..<9_600 { buffer.channels[0][i] = input[i] }
        unit.process(buffer.channels, buffer.channels, frameCount: 4_800)
        unit.set([-24, 0.06, 0], over: 32)
        unit.process(buffer.channels, buffer.channels, offset: 4_800, frameCount: 4_800)
        let after = ((4_800 + 200)..<9_600).map { buffer.channels[0][$0] }
        #expect(decibels(Double(after.map { abs($0) }.max()!)) <= -24)
        #expect(decibels(Double(after.suffix(400).map { abs($0) }.max()!)) > -24.2)
    }
}
