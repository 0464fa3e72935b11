// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

/// Tests the compressor, the limiter and the gate together.
@Suite struct DynamicsTests {
    static let names = ["compressor", "limiter", "gate"]

    static func type(_ name: String) -> UnitType { UnitType.all.first { $0.description.component.subtype == name }! }

    /// Noise with changing level and occasional clicks.
    static func sound(_ count: Int, seed: UInt64, scale: Float = 1) -> [Float] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { i in
            let level = (i / 1_500) % 3 == 0 ? 0.9 : (i / 1_500) % 3 == 1 ? 0.02 : 0.0005
            return scale * Float(i % 2_111 == 7 ? 1 : level * (random.unit() * 2 - 1))
        }
    }

    @Test(arguments: names, [8_000.0, 44_100, 192_000])
    func `the block size does not change the output`(name: String, rate: Double) {
        let type = Self.type(name)
        let input = [Self.sound(9_000, seed: 1), Self.sound(9_000, seed: 2), Self.sound(9_000, seed: 3)]
        func rendered(_ blocks: [Int]) -> [[Float]] {
            let unit = type.makeUnit(sampleRate: rate, channelCount: 3)
            if let preset = type.description.presets.last { unit.set(type.description.values(of: preset)) }
            return UnitDrive.render(unit, input, blocks: blocks)
        }
        let whole = rendered([9_000])
        for blocks in [[1], [7], [64], [4_096], [1, 4_096, 17, 33]] {
            let isSame = rendered(blocks) == whole
            #expect(isSame, "\(blocks)")
        }
    }

    @Test(arguments: names)
    func `the output after a reset matches that of a new unit`(name: String) {
        let type = Self.type(name)
        let input = [Self.sound(20_000, seed: 4)]
        let unit = type.makeUnit(sampleRate: 48_000, channelCount: 1)
        let first = UnitDrive.render(unit, input)
        unit.reset()
        let again = UnitDrive.render(unit, input)
        let anew = UnitDrive.render(type.makeUnit(sampleRate: 48_000, channelCount: 1), input)
        #expect(UnitDrive.difference(first[0], again[0]) == -300)
        #expect(UnitDrive.difference(first[0], anew[0]) == -300)
    }

    @Test(arguments: names)
    func `input and output may share memory`(name: String) {
        let input = [Self.sound(5_000, seed: 5), Self.sound(5_000, seed: 6)]
        let type = Self.type(name)
        let expected = UnitDrive.render(type.makeUnit(sampleRate: 48_000, channelCount: 2), input)
        let unit = type.makeUnit(sampleRate: 48_000, channelCount: 2)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 5_000)
        for c in 0..<2 { for i in 0..<5_000 { buffer.channels[c][i] = input[c][i] } }
        unit.process(buffer.channels, buffer.channels, frameCount: 5_000)
        withExtendedLifetime(buffer) {}
        for c in 0..<2 { #expect((0..<5_000).allSatisfy { buffer.channels[c][$0] == expected[c][$0] }) }
    }

    @Test(arguments: names, [8_000.0, 192_000])
    func `the output stays finite and decays to silence at the limits of every parameter`(name: String, rate: Double) {
        let type = Self.type(name)
        let parameters = type.description.parameters
        for corner in 0..<(1 << parameters.count) {
            let unit = type.makeUnit(sampleRate: rate, channelCount: 1)
            let values = parameters.enumerated().map { i, p in
                corner >> i & 1 == 0 ? p.range.lowerBound : p.range.upperBound
            }
            unit.set(values)
            let loud = Self.sound(600, seed: 7, scale: 1_000)
            let constant = [Float](repeating: -1_000, count: 300)
            let tiny = [Float](repeating: .leastNonzeroMagnitude, count: 300)
            let output = UnitDrive.render(unit, [loud + constant + tiny + [Float](repeating: 0, count: 2_000)])[0]
            #expect(output.allSatisfy { $0.isFinite && abs($0) < 1e7 }, "\(values)")
            #expect(output.suffix(1_000).allSatisfy { $0 == 0 }, "\(values)")
        }
    }

    @Test(arguments: names)
    func `parameter changes do not click`(name: String) {
        // A soft constant tone: parts more than 60 dB below it may change with parameters.
        let type = Self.type(name)
        let unit = type.makeUnit(sampleRate: 48_000, channelCount: 1)
        let parameters = type.description.parameters
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 96_000)
        var values = type.description.defaultValues
        for i in 0..<96_000 { buffer.channels[0][i] = sine(i, frequency: 441, rate: 48_000, amplitude: 0.5) }
        var at = 0
        var step = 0
        while at < 96_000 {
            if at >= 24_000, let index = type.description.index(of: name == "limiter" ? "ceiling" : "threshold") {
                let range = parameters[index].range
                values[index] = max(range.lowerBound, parameters[index].defaultValue - Float(step % 400) * 0.025)
                step += 1
                unit.set(values, over: 32)
            }
            unit.process(buffer.channels, buffer.channels, offset: at, frameCount: 32)
            at += 32
        }
        let output = (24_000..<60_000).map { buffer.channels[0][$0] }
        #expect(sineDefect(output, frequency: 441, rate: 48_000) < -60)
    }

    @Test(arguments: names)
    func `a unit that has been silent for its memory behaves like a new one`(name: String) {
        let type = Self.type(name)
        let slowest = type.description.parameters.map {
            $0.identifier == "release" || $0.identifier == "hold" ? $0.range.upperBound : $0.defaultValue
        }
        let unit = type.makeUnit(sampleRate: 8_000, channelCount: 1)
        unit.set(slowest)
        let input = Self.sound(8_000, seed: 9)
        let first = UnitDrive.render(unit, [input])
        _ = UnitDrive.render(unit, [[Float](repeating: 0, count: unit.memory)])
        let second = UnitDrive.render(unit, [input])
        #expect(UnitDrive.difference(first[0], second[0]) == -300)
    }
}
