// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestTraits
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

/// Noise that is always the same.
private func noise(_ count: Int, seed: UInt32 = 1, amplitude: Float = 0.5) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return Float(Int32(bitPattern: state)) * (amplitude / 2_147_483_648)
    }
}

private func equalizer(_ rate: Double = 48_000, _ channels: Int = 1, _ values: [Float]? = nil) -> UnitInstance {
    let unit = UnitType.equalizer.makeUnit(sampleRate: rate, channelCount: channels)
    if let values { unit.set(values) }
    return unit
}

/// Random settings, every 32 frames of `count`.
private func storm(_ count: Int, seed: UInt64, every: Int = 32) -> [UnitDrive.Change] {
    var random = Seeded(state: seed)
    return stride(from: 0, to: count, by: every).map { frame in
        let values = UnitType.equalizer.description.parameters.map { parameter in
            switch parameter.unit {
            case .choice(let names): Float(Int.random(in: 0..<names.count, using: &random))
            case .toggle: Float(Int.random(in: 0...1, using: &random))
            default: Float.random(in: parameter.range, using: &random)
            }
        }
        return UnitDrive.Change(at: frame, values, over: [0, 1, 5, 32].randomElement(using: &random) ?? 32)
    }
}

private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

/// One band at the ends of its ranges.
private func ends(_ type: Int) -> [[Float]] {
    [Float(20), 20_000].flatMap { frequency in
        [Float(24), -24].flatMap { gain in
            [Float(18), 0.1].map { q in
                EqualizerMeasure.values(
                    "flat",
                    ["band5.type": Float(type), "band5.frequency": frequency, "band5.gain": gain, "band5.q": q])
            }
        }
    }
}

@Suite(.optimized) struct EqualizerTests {
    @Test func `the equaliser matches the cookbook formulas and does not click`() {
        for figure in equalizerFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `the flat preset is bit-transparent`() {
        let input = [noise(5_000), noise(5_000, seed: 2)]
        #expect(UnitDrive.render(equalizer(48_000, 2), input) == input)
    }

    @Test(arguments: [
        "flat", "voice", "warmth", "presence", "de-mud", "telephone", "bass-boost", "treble-boost", "loudness",
    ])
    func `every preset exists, and all but flat change the sound`(name: String) {
        let input = [noise(20_000)]
        let output = UnitDrive.render(equalizer(48_000, 1, EqualizerMeasure.values(name)), input)
        #expect((output == input) == (name == "flat"))
    }

    @Test(arguments: [1, 2, 3, 8], [[1], [7], [64], [4_096], [1, 300, 5, 64, 2_000]])
    func `the block size does not change a bit of the output`(channels: Int, blocks: [Int]) {
        let count = 20_000
        let input = (0..<channels).map { noise(count, seed: UInt32($0 + 1)) }
        let changes = storm(count, seed: 5, every: 1_000)
        let whole = UnitDrive.render(equalizer(48_000, channels), input, blocks: [333], changes: changes)
        #expect(UnitDrive.render(equalizer(48_000, channels), input, blocks: blocks, changes: changes) == whole)
    }

    @Test func `each channel is filtered independently`() {
        let input = (0..<5).map { noise(8_000, seed: UInt32($0 + 1)) }
        let values = EqualizerMeasure.values("voice")
        let together = UnitDrive.render(equalizer(48_000, 5, values), input)
        for c in 0..<5 {
            #expect(UnitDrive.render(equalizer(48_000, 1, values), [input[c]])[0] == together[c])
        }
    }

    @Test func `the equaliser processes in place`() {
        let input = [noise(3_000), noise(3_000, seed: 9)]
        let values = EqualizerMeasure.values("telephone")
        let apart = UnitDrive.render(equalizer(48_000, 2, values), input)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 3_000)
        for c in 0..<2 { for i in 0..<3_000 { buffer.channels[c][i] = input[c][i] } }
        equalizer(48_000, 2, values).process(buffer.channels, buffer.channels, frameCount: 3_000)
        for c in 0..<2 { #expect((0..<3_000).allSatisfy { buffer.channels[c][$0] == apart[c][$0] }) }
    }

    @Test func `a reset unit and a new one give the same output`() {
        let input = [noise(9_000), noise(9_000, seed: 3)]
        let changes = storm(9_000, seed: 11, every: 500)
        let first = equalizer(44_100, 2)
        let heard = UnitDrive.render(first, input, blocks: [64], changes: changes)
        first.set(first.description.defaultValues)
        first.reset()
        #expect(UnitDrive.render(first, input, blocks: [64], changes: changes) == heard)
        #expect(UnitDrive.render(equalizer(44_100, 2), input, blocks: [64], changes: changes) == heard)
        // Even during a change, which ends at once.
        let values = EqualizerMeasure.values("voice")
        first.set(values, over: 32)
        _ = UnitDrive.render(first, [noise(7), noise(7)])
        first.reset()
        #expect(UnitDrive.render(first, input) == UnitDrive.render(equalizer(44_100, 2, values), input))
    }

    @Test(arguments: [8_000.0, 44_100, 192_000])
    func `the output stays bounded when any settings change to any others`(rate: Double) {
        let count = 64_000
        let input = [noise(count, amplitude: 1_000), [Float](repeating: 1_000, count: count)]
        for seed: UInt64 in 1...6 {
            let output = UnitDrive.render(
                equalizer(rate, 2), input, blocks: [64], changes: storm(count, seed: seed, every: seed < 4 ? 32 : 400))
            // 8 bands of 24 dB plus 24 dB are 1.8e10; narrow sections overshoot.
            #expect(output.allSatisfy { $0.allSatisfy { $0.isFinite && abs($0) < 1e15 } })
        }
    }

    @Test(arguments: [8_000.0, 48_000, 192_000], 0..<8)
    func `filters are stable at the limits of every parameter`(rate: Double, type: Int) {
        let input = [noise(20_000, amplitude: 1_000) + [Float](repeating: 1_000, count: 20_000)]
        for values in ends(type) {
            let output = UnitDrive.render(equalizer(rate, 1, values), input, blocks: [4_096])[0]
            #expect(output.allSatisfy { abs($0) < 1e6 })
        }
    }

    @Test(arguments: 0..<8)
    func `the output decays to complete silence`(type: Int) {
        // The longest decay is at 20 Hz with a Q of 72, as in a peak of 24 dB: 1.15 s per factor of e.
        let rate = 8_000.0
        let input = [noise(2_000, amplitude: 1) + [Float](repeating: 0, count: Int(rate) * 33)]
        for values in ends(type) {
            let unit = equalizer(rate, 1, values)
            let output = UnitDrive.render(unit, input, blocks: [4_096])[0]
            #expect(output.suffix(unit.memory).allSatisfy { $0 == 0 })
        }
    }

    @Test func `a parameter change ends exactly at the requested values`() {
        let count = 48_000
        let input = [noise(count)]
        let values = EqualizerMeasure.values("telephone", ["gain": -6])
        let moved = UnitDrive.render(
            equalizer(), input, blocks: [64], changes: [UnitDrive.Change(at: 100, values, over: 32)])[0]
        let made = UnitDrive.render(equalizer(48_000, 1, values), input)[0]
        #expect(UnitDrive.difference(Array(made.suffix(24_000)), Array(moved.suffix(24_000))) < -120)
    }

    @Test func `disabled bands do not affect the sound`() {
        var changes: [String: Float] = [:]
        for n in 1...8 { (changes["band\(n).on"], changes["band\(n).gain"], changes["band\(n).type"]) = (0, 12, 3) }
        let input = [noise(3_000)]
        #expect(UnitDrive.render(equalizer(48_000, 1, EqualizerMeasure.values("flat", changes)), input) == input)
    }
}
