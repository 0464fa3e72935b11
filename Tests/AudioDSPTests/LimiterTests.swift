import AudioBase
import CRealtime
import Testing
import TestSupport
import UnitMeasures

@testable import AudioDSP

@Suite struct LimiterTests {
    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000, 384_000])
    func `below its ceiling it is a delay of exactly its latency`(rate: Double) {
        let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 2)
        let input = DynamicsTests.sound(6_000, seed: 1, scale: 0.5)
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

@Suite struct GateTests {
    private func gains(_ levels: [(decibels: Double, frames: Int)], _ values: [Float]) -> [Float] {
        let unit = UnitType.gate.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set(values)
        let input = levels.flatMap { level in
            (0..<level.frames).map { Float($0 % 2 == 0 ? 1 : -1) * decibelsToGain(Float(level.decibels)) }
        }
        return zip(UnitDrive.render(unit, [input])[0], input).map { $0 / $1 }
    }

    @Test func `it opens at the threshold and shuts only below the hysteresis`() {
        let values: [Float] = [-40, 6, 0.001, 0.05, 0.02, -60]
        #expect(gains([(-40.1, 48_000)], values).allSatisfy { $0 < 0.0011 })
        let path = gains([(-39.9, 9_600), (-45.9, 96_000), (-46.1, 48_000)], values)
        #expect(abs(path[9_599] - 1) < 1e-4)
        #expect(abs(path[105_000] - 1) < 1e-4)
        #expect(path.last! < 0.0011)
    }

    @Test func `attack, hold and release take their times`() {
        let path = gains([(-80, 4_800), (-20, 9_600), (-80, 48_000)], [-40, 6, 0.004, 0.1, 0.05, -60])
        let open = path[4_800...].firstIndex { $0 >= 0.632 }! - 4_800
        #expect(abs(Double(open) / 48 - 4) < 0.05)
        let hold = path[14_400...].firstIndex { $0 < 0.999 }! - 14_400
        #expect(abs(Double(hold) / 48 - 112.5) < 0.2)
        let shut = path[(14_400 + hold)...].firstIndex { $0 <= 0.369 }! - 14_400 - hold
        #expect(abs(Double(shut) / 48 - 50) < 0.5)
    }

    @Test(arguments: [41.0, 100, 440])
    func `a steady low tone does not make it flutter`(frequency: Double) {
        let unit = UnitType.gate.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set([-40, 0, 0.0001, 0, 0.005, -96])
        let input = UnitDrive.sine(frequency, rate: 48_000, count: 48_000, amplitude: 0.0101)
        let output = UnitDrive.render(unit, [input])[0]
        #expect(UnitDrive.difference(Array(input.suffix(24_000)), Array(output.suffix(24_000))) < -80)
    }

    @Test func `its lowest range is silence`() {
        let path = gains([(-20, 4_800), (-80, 96_000)], [-40, 6, 0.001, 0, 0.02, -96])
        #expect(path.last! == 0)
    }
}

@Suite struct CompressorTests {
    @Test func `softer than the threshold it changes nothing`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 1)
        let input = DynamicsTests.sound(20_000, seed: 3, scale: 0.05)
        #expect(UnitDrive.difference(input, UnitDrive.render(unit, [input])[0]) == -300)
    }

    @Test func `channels are compressed alike`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 2)
        let loud = UnitDrive.sine(300, rate: 48_000, count: 24_000)
        let output = UnitDrive.render(unit, [loud, loud.map { $0 / 8 }])
        for i in 0..<24_000 { #expect(abs(output[0][i] - 8 * output[1][i]) < 1e-5) }
    }

    @Test func `automatic makeup gives back half of what full scale loses`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set([-20, 4, 6, 0.001, 0.05, 0, 1])
        let output = UnitDrive.render(unit, [UnitDrive.sine(997, rate: 48_000, count: 48_000)])[0]
        #expect(abs(decibels(Double(output.suffix(4_800).map { abs($0) }.max()!)) + 7.5) < 0.05)
    }

    @Test func `its logarithm and its power are exact enough`() {
        var worstLog: Float = 0
        var worstPower: Float = 0
        for k in -3_000...3_000 {
            let x = Float(k) * 0.01
            worstPower = max(worstPower, abs(fastExp2(x) / Float(exp2Reference(Double(x))) - 1))
            worstLog = max(worstLog, abs(fastLog2(Float(exp2Reference(Double(x)))) - x) / max(1, abs(x)))
        }
        #expect(worstLog < 5e-7)
        #expect(worstPower < 5e-7)
        #expect(fastExp2(0) == 1)
        #expect(fastExp2(-500) > 0 && fastExp2(500).isFinite)
    }

    private func exp2Reference(_ x: Double) -> Double { earshot_exp(x * 0.693_147_180_559_945_3) }
}
