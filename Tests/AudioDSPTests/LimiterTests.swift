import AudioBase
import Testing
import TestSupport
import UnitMeasures

@testable import AudioDSP

@Suite struct LimiterTests {
    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000, 384_000])
    func `below its ceiling it is a delay of exactly its latency`(rate: Double) {
        let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 2)
        let input = DynamicsTests.sound(6_000, seed: 1, scale: 0.25)
        let output = UnitDrive.render(unit, [input, input])
        let late = Array(output[1].dropFirst(unit.latency))
        #expect(UnitDrive.difference(Array(input.dropLast(unit.latency)), late) == -300)
        #expect(output[1].prefix(unit.latency).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [8_000.0, 96_000, 192_000])
    func `other rates keep the ceiling too`(rate: Double) {
        let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 1)
        unit.set([-6, 0.005, 12])
        let output = UnitDrive.render(unit, [DynamicsTests.sound(12_000, seed: 2)])[0]
        #expect(decibels(TruePeakReference.peak(output)) <= -5.9)
    }

    @Test func `channels are limited alike`() {
        let unit = UnitType.limiter.makeUnit(sampleRate: 48_000, channelCount: 2)
        let loud = UnitDrive.sine(300, rate: 48_000, count: 24_000, amplitude: 4)
        let soft = UnitDrive.sine(300, rate: 48_000, count: 24_000, amplitude: 1)
        let output = UnitDrive.render(unit, [loud, soft])
        for i in 12_000..<24_000 { #expect(abs(output[0][i] - 4 * output[1][i]) < 1e-4) }
    }

    @Test func `a ceiling that falls is kept once the delay is over`() {
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
