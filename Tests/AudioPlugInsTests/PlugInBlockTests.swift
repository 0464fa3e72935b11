// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioPlugIns
import Testing
import UnitMeasures

/// The blocks in which a plug-in is called, and their effects.
@Suite struct PlugInBlockTests {
    private static let cuts = [[1], [7], [64], [4_096], [1, 4_096, 17, 300]]

    /// Renders with a parameter change at frame 5,000.
    private func render(_ unit: UnitInstance, _ blocks: [Int], _ change: [Float]) -> [Float] {
        let sound = noise(10_000)
        let first = UnitDrive.render(unit, [Array(sound[..<5_000])], blocks: blocks)[0]
        unit.set(change, over: 32)
        return first + UnitDrive.render(unit, [Array(sound[5_000...])], blocks: blocks)[0]
    }

    /// This delay glides to a new length within one block, whatever the block's length.
    @Test(arguments: cuts)
    func `fixed blocks make the output independent of the host's block size`(blocks: [Int]) throws {
        func unit() throws -> UnitInstance {
            try swh("delay_n").makeUnit(sampleRate: 48_000, channelCount: 1, blocks: .fixed(64))
        }
        let change = values(try unit(), ["delay_time": 0.02])
        #expect(render(try unit(), blocks, change) == render(try unit(), [256], change))
    }

    @Test(arguments: cuts)
    func `a plug-in without block-dependent state sounds the same at any block size`(blocks: [Int]) throws {
        func unit() throws -> UnitInstance { try swh("amp").makeUnit(sampleRate: 48_000, channelCount: 1) }
        let change = values(try unit(), ["gain": -7])
        #expect(render(try unit(), blocks, change) == render(try unit(), [256], change))
    }

    @Test(arguments: [16, 64, 256])
    func `a fixed block adds its own length as latency`(count: Int) throws {
        let unit = try swh("amp").makeUnit(sampleRate: 48_000, channelCount: 2, blocks: .fixed(count))
        #expect(unit.latency == count)
        let sound = noise(3_000)
        for channel in UnitDrive.render(unit, [sound, sound], blocks: [100]) {
            #expect(Array(channel[count...]) == Array(sound[..<(3_000 - count)]))
            #expect(channel[..<count].allSatisfy { $0 == 0 })
        }
    }

    @Test func `a plug-in receives at most 256 frames, or exactly its fixed block`() throws {
        let bundles = try TestBundles()
        let run = "for (unsigned i = 0; i < n; i++) out[i] = n;"
        try bundles.write("length", library: try TestBundles.library("length", run: run))
        let needs = "lv2:requiredFeature bufsz:fixedBlockLength, bufsz:powerOf2BlockLength ;"
        try bundles.write("fixed", more: needs, library: try TestBundles.library("fixed", run: run))
        let silence = [[Float](repeating: 0, count: 2_000)]

        let free = try bundles.catalog.plugIn("urn:test:length").makeUnit(sampleRate: 48_000, channelCount: 1)
        let seen = UnitDrive.render(free, silence, blocks: [600])[0]
        #expect(Set(seen) == [256, 88, 200] && seen[..<512].allSatisfy { $0 == 256 } && seen[512] == 88)

        let plugIn = try bundles.catalog.plugIn("urn:test:fixed")
        #expect(plugIn.needsFixedBlocks)
        let fixed = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 1)
        #expect(fixed.latency == 64)
        #expect(Set(UnitDrive.render(fixed, silence, blocks: [600])[0][64...]) == [64])
    }
}
