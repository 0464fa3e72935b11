// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestTraits
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite(.optimized) struct SpatialTests {
    @Test func `spatialisation meets the specified limits`() {
        for figure in SpatialMeasure.figures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `the reference agrees with scipy's spherical Bessel functions`() {
        for (hertz, degrees, re, im) in [
            (500.0, 0.0, 0.5112895591473468, 1.1838747243386094), (1_000, 90, 1.0946733604285117, 0.2381194402044544),
            (4_000, 160, -0.2096203621550393, -0.24422324553364788),
            (8_000, 170, 0.1562430439886875, -0.05174498924595575),
            (300, 180, 0.7624497175255474, -0.6741747430269159),
        ] {
            let response = SphereReference.response(hertz: hertz, degrees: degrees)
            #expect(abs(response.re - re) < 1e-9 && abs(response.im - im) < 1e-9)
        }
    }

    @Test(arguments: [32_000.0, 44_100, 96_000, 192_000])
    func `levels match a sphere at every sample rate`(rate: Double) {
        #expect(SpatialMeasure.levelError(every: 30, [500, 1_000, 2_000, 4_000, 8_000], rate: rate) < 3)
    }

    @Test func `levels match a sphere at 8 kHz up to the highest frequency`() {
        #expect(SpatialMeasure.levelError(every: 30, [500, 1_000, 2_000, 3_000], rate: 8_000) < 3)
    }

    static let path: [SIMD3<Float>] = [
        SIMD3(1, 0, -1), SIMD3(-3, 1, 0), SIMD3(0, 0, 0), SIMD3(0.05, 0, 0.01), SIMD3(-100, 0, 100), SIMD3(2, -2, 2),
    ]

    /// Passes noise through a unit that is moved and changed during the sound, in blocks.
    static func journey(_ unit: UnitInstance, blocks: [Int]) -> [[Float]] {
        unit.set(SpatialMeasure.values(path[0]))
        let noise = noise(500 * path.count, channels: unit.inputChannelCount)
        var out: [[Float]] = [[], []]
        for (k, place) in path.enumerated() {
            // The second change begins during the first, and the algorithm changes half-way.
            unit.set(SpatialMeasure.values(place, ["algorithm": k % 3 == 2 ? 1 : 0]), over: 32)
            for (range, next) in [(k * 500..<k * 500 + 10, true), (k * 500 + 10..<k * 500 + 500, false)] {
                let piece = UnitDrive.render(unit, noise.map { Array($0[range]) }, blocks: blocks)
                for c in 0..<2 { out[c] += piece[c] }
                if next { unit.set(SpatialMeasure.values(place + 0.1, ["algorithm": k % 2 == 1 ? 1 : 0]), over: 27) }
            }
        }
        return out
    }

    static func noise(_ count: Int, channels: Int) -> [[Float]] {
        var seed: UInt32 = 1
        return (0..<channels).map { _ in
            (0..<count).map { _ in
                seed = seed &* 1_664_525 &+ 1_013_904_223
                return Float(Int32(bitPattern: seed)) / 2_147_483_648
            }
        }
    }

    @Test(arguments: [8_000.0, 48_000, 192_000], [[1], [7], [64], [4_096], [1, 4_096, 17, 64, 5]])
    func `the block size does not change the output`(rate: Double, blocks: [Int]) {
        let whole = Self.journey(UnitType.spatializer.makeUnit(sampleRate: rate, channelCount: 1), blocks: [500])
        let cut = Self.journey(UnitType.spatializer.makeUnit(sampleRate: rate, channelCount: 1), blocks: blocks)
        #expect(whole == cut)
        #expect(whole[0] != whole[1])
    }

    @Test func `a reset unit and a new one are bit-identical`() {
        let unit = UnitType.spatializer.makeUnit(sampleRate: 48_000, channelCount: 1)
        let first = Self.journey(unit, blocks: [64])
        unit.set(SpatialMeasure.values(SIMD3(5, 5, 5)), over: 32)
        unit.reset()
        #expect(Self.journey(unit, blocks: [64]) == first)
        #expect(Self.journey(UnitType.spatializer.makeUnit(sampleRate: 48_000, channelCount: 1), blocks: [64]) == first)
    }

    @Test func `a reset during a move ends the move`() {
        let moved = SpatialMeasure.unit(at: SIMD3(1, 0, 0))
        moved.set(SpatialMeasure.values(SIMD3(-1, 0, -2)), over: 32)
        _ = UnitDrive.render(moved, Self.noise(9, channels: 1))
        moved.reset()
        let there = SpatialMeasure.unit(at: SIMD3(-1, 0, -2))
        let noise = Self.noise(300, channels: 1)
        #expect(UnitDrive.render(moved, noise) == UnitDrive.render(there, noise))
    }

    @Test(arguments: [8_000.0, 44_100, 48_000, 192_000])
    func `a source straight ahead has the reported latency and is silent after the memory`(rate: Double) {
        for algorithm: Float in [0, 1] {
            let unit = SpatialMeasure.unit(at: SIMD3(0, 0, -1), rate: rate, ["algorithm": algorithm])
            var impulse = [Float](repeating: 0, count: 4_096)
            impulse[0] = 1
            let out = UnitDrive.render(unit, [impulse])
            #expect(out[0] == out[1])
            #expect(out[0][..<unit.latency].allSatisfy { abs($0) < 0.01 })
            #expect(out[0].indices.max { abs(out[0][$0]) < abs(out[0][$1]) } == unit.latency)
            for place in Self.path {
                unit.set(SpatialMeasure.values(place, ["algorithm": algorithm]))
                unit.reset()
                let out = UnitDrive.render(unit, [impulse])
                #expect(out.allSatisfy { $0[unit.memory...].allSatisfy { $0 == 0 } })
            }
        }
    }

    @Test func `a move ends exactly at its target after 30 ms, even when the target is set repeatedly`() {
        let noise = Self.noise(2_400, channels: 1)
        let there = UnitDrive.render(SpatialMeasure.unit(at: SIMD3(-3, 0, 0)), noise)
        for again in [false, true] {
            let moved = SpatialMeasure.unit(at: SIMD3(1, 0, 0))
            let path =
                [SIMD3<Float>(0, 0, -2), SIMD3(-3, 0, 0)] + (again ? Array(repeating: SIMD3(-3, 0, 0), count: 50) : [])
            var out: [[Float]] = [[], []]
            for k in 0..<75 {
                if k < path.count { moved.set(SpatialMeasure.values(path[k]), over: 32) }
                let piece = UnitDrive.render(moved, [Array(noise[0][k * 32..<k * 32 + 32])])
                for c in 0..<2 { out[c] += piece[c] }
            }
            let settled = 32 + 1_440 + moved.memory
            for c in 0..<2 { #expect(out[c][settled...] == there[c][settled...]) }
        }
    }

    @Test func `ears are mirror images, and a source on the right is louder and earlier in the right ear`() {
        let noise = Self.noise(2_000, channels: 1)
        let right = UnitDrive.render(SpatialMeasure.unit(at: SIMD3(2, 0.5, -1)), noise)
        let left = UnitDrive.render(SpatialMeasure.unit(at: SIMD3(-2, 0.5, -1)), noise)
        #expect(UnitDrive.difference(right[0], left[1]) < -90)
        #expect(UnitDrive.difference(right[1], left[0]) < -90)
        #expect(right[1].reduce(0) { $0 + $1 * $1 } > 2 * right[0].reduce(0) { $0 + $1 * $1 })
    }

    @Test func `many input channels are averaged, also in place`() {
        let noise = Self.noise(700, channels: 3)
        let mean = (0..<700).map { i in (noise[0][i] + noise[1][i] + noise[2][i]) * (1 / 3 as Float) }
        let unit = UnitType.spatializer.makeUnit(sampleRate: 48_000, channelCount: 3)
        unit.set(SpatialMeasure.values(SIMD3(1, 1, 1)))
        #expect(unit.inputChannelCount == 3 && unit.outputChannelCount == 2)
        let expected = UnitDrive.render(SpatialMeasure.unit(at: SIMD3(1, 1, 1)), [mean])
        let out = UnitDrive.render(unit, noise)
        for c in 0..<2 { #expect(UnitDrive.difference(expected[c], out[c]) < -120) }

        unit.reset()
        let memory = AudioBuffer(channelCount: 3, frameCapacity: 700)
        withExtendedLifetime(memory) {
            for c in 0..<3 { for i in 0..<700 { memory.channels[c][i] = noise[c][i] } }
            unit.process(memory.channels, memory.channels, frameCount: 700)
            for c in 0..<2 { #expect((0..<700).allSatisfy { memory.channels[c][$0] == out[c][$0] }) }
        }
    }

    @Test func `panning preserves power`() {
        for azimuth in stride(from: Float(-90), through: 90, by: 15) {
            let place = ListenerGeometry.place(azimuth: azimuth, distance: 1)
            let unit = SpatialMeasure.unit(at: place, ["algorithm": 1])
            let out = UnitDrive.render(unit, [[1] + [Float](repeating: 0, count: 99)]).map { $0[unit.latency] }
            #expect(abs(out[0] * out[0] + out[1] * out[1] - 1) < 1e-5)
            #expect((out[1] - out[0]) * azimuth >= 0)
        }
    }

    @Test(arguments: [8_000.0, 384_000])
    func `the output stays finite at the limits of every parameter`(rate: Double) {
        let unit = UnitType.spatializer.makeUnit(sampleRate: rate, channelCount: 1)
        let loud = Self.noise(200, channels: 1).map { $0.map { $0 * 1_000 } }
        for k in 0..<256 {
            let values = unit.description.parameters.enumerated().map { i, p in
                k >> i & 1 == 0 ? p.range.lowerBound : p.range.upperBound
            }
            unit.set(values, over: k % 33)
            let out = UnitDrive.render(unit, loud)
            #expect(out.allSatisfy { $0.allSatisfy { $0.isFinite && abs($0) < 10_000 } })
        }
    }
}
