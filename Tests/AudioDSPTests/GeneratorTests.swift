// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import TestTraits
import Testing
import UnitMeasures

@Suite(.optimized) struct GeneratorTests {
    static let waveforms: [Float] = [0, 1, 2, 3, 4]

    @Test func `the generator meets its measured limits`() {
        for figure in generatorFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test(arguments: waveforms, [8_000.0, 44_100, 192_000])
    func `samples do not depend on block size, reset or generator instance`(waveform: Float, rate: Double) {
        let values: [String: Float] = ["waveform": waveform, "clickInterval": 0.02, "sweepDuration": 0.03]
        let unit = generator(values, rate: rate, channelCount: 3)
        let whole = generated(unit, 9_000, blocks: [4096])
        #expect(whole.joined().contains { abs($0) > 0.05 })
        #expect(whole.joined().allSatisfy { abs($0) <= 0.1001 })
        for blocks in [[1], [7, 64, 1, 4096]] {
            unit.reset()
            #expect(generated(unit, 9_000, blocks: blocks) == whole)
        }
        #expect(generated(generator(values, rate: rate, channelCount: 3), 9_000) == whole)
    }

    @Test func `noise differs by channel and seed, other waveforms do not`() {
        for waveform in Self.waveforms {
            let sound = generated(generator(["waveform": waveform], channelCount: 2), 5_000)
            let isNoise = waveform == 2 || waveform == 3
            #expect((sound[0] == sound[1]) != isNoise)
            #expect((generated(generator(["waveform": waveform, "seed": 2]), 5_000)[0] == sound[0]) != isNoise)
            if isNoise {
                let product = zip(sound[0], sound[1]).reduce(0) { $0 + Double($1.0 * $1.1) }
                let power = sound[0].reduce(0) { $0 + Double($1 * $1) }
                #expect(abs(product) < (waveform == 2 ? 0.1 : 0.9) * power)
            }
        }
    }

    @Test func `white noise has equal power in all frequency bands`() {
        let noise = generated(generator(["waveform": 2, "gain": 0]), 1 << 17)[0].map(Double.init)
        let power = Spectrum.magnitudes(noise).map { $0 * $0 }
        let bands = (0..<8).map { power[$0 * 8192 + 1..<($0 + 1) * 8192].reduce(0, +) }
        for band in bands { #expect(abs(10 * decibels(band / bands[0]) / 20) < 0.3) }
        #expect(abs(noise.reduce(0) { $0 + $1 * $1 } / Double(noise.count) - 1.0 / 3) < 0.01)
    }

    @Test func `clicks come exactly at their interval and at no other time`() {
        let sound = generated(generator(["waveform": 4, "gain": 0, "clickInterval": 0.015625], rate: 44_100), 44_100)[0]
        let clicks = sound.indices.filter { sound[$0] != 0 }
        #expect(clicks == (0..<64).map { Int((Double($0) * 689.0625).rounded(.up)) })
        #expect(clicks.allSatisfy { sound[$0] == 1 })
    }

    @Test func `generators ignore their input, and the lowest gain is silence`() {
        let unit = generator(["gain": -96], channelCount: 2)
        let loud = [[Float]](repeating: [Float](repeating: 1_000, count: 500), count: 2)
        #expect(UnitDrive.render(unit, loud).joined().allSatisfy { $0 == 0 })
        let tone = generator([:])
        #expect(UnitDrive.render(tone, [loud[0]]) == generated(generator([:]), 500))
    }

    @Test(arguments: [8_000.0, 48_000])
    func `frequencies above half the sample rate are limited to just below it`(rate: Double) {
        let sound = generated(generator(["frequency": 96_000, "gain": 0], rate: rate), 8_192)[0]
        #expect(SineFit(sound, frequency: 0.49).amplitude > 0.99)
    }

    @Test(arguments: [8_000.0, 192_000])
    func `parameters at the limits of their range never exceed the requested level`(rate: Double) {
        let parameters = UnitType.generator.description.parameters
        for waveform in Self.waveforms {
            for parameter in parameters where parameter.identifier != "waveform" {
                for value in [parameter.range.lowerBound, parameter.range.upperBound] {
                    var values: [String: Float] = ["waveform": waveform, "gain": 0]
                    values[parameter.identifier] = value
                    let unit = generator(values, rate: rate, channelCount: 32)
                    let peak = generated(unit, 3_000).joined().map { abs($0) }.max() ?? 0
                    #expect(peak <= (waveform == 3 ? 1.5 : 1))
                    #expect((peak > 0.01) == !(parameter.identifier == "gain" && value == -96))
                }
            }
        }
    }

    @Test func `a frequency change does not click`() {
        let unit = generator(["frequency": 440, "gain": 0])
        var sound = generated(unit, 1_000)[0]
        unit.set(unit.description.values(of: UnitPreset("moved", ["frequency": 450, "gain": 0])), over: 32)
        sound += generated(unit, 1_000)[0]
        #expect(sineDefect(sound, frequency: 440, rate: 48_000, amplitude: 1) < -60)
    }

    /// Two different waveforms without noise, which would mask a click.
    private static let changes = waveforms.flatMap { from in waveforms.map { (from, $0) } }
        .filter { $0 != $1 && ![2, 3].contains($0) && ![2, 3].contains($1) }

    @Test(arguments: changes)
    func `a waveform change does not click`(from: Float, to: Float) {
        // Slow sounds, in which a click would be the fastest change.
        func values(_ waveform: Float) -> UnitPreset {
            UnitPreset("", ["waveform": waveform, "frequency": 100, "sweepStart": 50, "sweepEnd": 60, "gain": 0])
        }
        let unit = generator(values(from).values)
        var sound = generated(unit, 1_111)[0]
        unit.set(unit.description.values(of: values(to)), over: 32)
        sound += generated(unit, 2_000)[0]
        let jumps = zip(sound.dropFirst(2), sound.dropFirst(4)).map { abs($0 - $1) }
        #expect((jumps.max() ?? 1) < 0.03)
    }
}
