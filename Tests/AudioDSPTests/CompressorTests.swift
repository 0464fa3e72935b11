// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import TestSupport
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite struct CompressorTests {
    @Test func `the compressor leaves sound below the threshold unchanged`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 1)
        let input = DynamicsTests.sound(20_000, seed: 3, scale: 0.05)
        #expect(UnitDrive.difference(input, UnitDrive.render(unit, [input])[0]) == -300)
    }

    @Test func `both channels are compressed by the same gain`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 2)
        let loud = UnitDrive.sine(300, rate: 48_000, count: 24_000)
        let output = UnitDrive.render(unit, [loud, loud.map { $0 / 8 }])
        for i in 0..<24_000 { #expect(abs(output[0][i] - 8 * output[1][i]) < 1e-5) }
    }

    @Test func `automatic makeup restores half of the gain reduction at full scale`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set([-20, 4, 6, 0.001, 0.05, 0, 1])
        let output = UnitDrive.render(unit, [UnitDrive.sine(997, rate: 48_000, count: 48_000)])[0]
        #expect(abs(decibels(Double(output.suffix(4_800).map { abs($0) }.max()!)) + 7.5) < 0.05)
    }

    @Test func `automatic makeup switches on and off without a click`() {
        let unit = UnitType.compressor.makeUnit(sampleRate: 48_000, channelCount: 1)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 48_000)
        for i in 0..<48_000 { buffer.channels[0][i] = sine(i, frequency: 441, rate: 48_000) }
        for at in stride(from: 0, to: 48_000, by: 4_800) {
            if at >= 24_000 { unit.set([-20, 3, 6, 0.01, 0.15, 0, at / 4_800 % 2 == 1 ? 1 : 0], over: 32) }
            unit.process(buffer.channels, buffer.channels, offset: at, frameCount: 4_800)
        }
        let output = (14_400..<48_000).map { buffer.channels[0][$0] }
        #expect(sineDefect(output, frequency: 441, rate: 48_000) < -70)
        #expect(output[9_600...].max()! > 1.5 * output[..<9_600].max()!, "it came")
    }

    @Test func `fast logarithm and power functions are accurate enough`() {
        var worstLog: Float = 0
        var worstPower: Float = 0
        for k in -3_000...3_000 {
            let x = Float(k) * 0.01
            let power = earshot_exp2_4(SIMD4(repeating: x))[0]
            worstPower = max(worstPower, abs(power / Float(exp2Reference(Double(x))) - 1))
            worstLog = max(worstLog, abs(fastLog2(Float(exp2Reference(Double(x)))) - x) / max(1, abs(x)))
        }
        #expect(worstLog < 5e-7)
        #expect(worstPower < 5e-7)
        #expect(earshot_exp2_4(SIMD4(repeating: 0)) == SIMD4(repeating: 1))
        #expect(earshot_exp2_4(SIMD4(repeating: -500))[3] > 0 && earshot_exp2_4(SIMD4(repeating: 500))[3].isFinite)
    }

    private func exp2Reference(_ x: Double) -> Double { earshot_exp(x * 0.693_147_180_559_945_3) }
}
