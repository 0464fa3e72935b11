// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioEngine

/// A low tone passes through a unit while its parameters move from end to end. A click is sound above 2 kHz (``ClickMeter``) that
/// constant parameters do not cause.
///
/// The tone has 50 Hz, at a level that the unit's highest gain raises to full scale. A change takes 20 ms, or 1 ms for every 1.2
/// dB.
@Suite(.optimized) struct EngineClickTests {
    private func chain(_ name: String) throws -> UnitChain {
        let gains = try type(name).description.parameters.filter { $0.unit == .decibels }.map(\.range.upperBound)
        let amplitude = 0.95 / Double(decibelsToGain(max(0, gains.max() ?? 0)))
        return try UnitChain(name) { sine($0, frequency: 50, rate: 48_000, amplitude: amplitude) }
    }

    @Test func `a fader closed and opened at full scale does not click`() throws {
        let chain = try UnitChain("gain") { sine($0, frequency: 50, rate: 48_000, amplitude: 1) }
        var meters = [ClickMeter(), ClickMeter()]
        _ = try clicks(chain, &meters, 4_800)
        for value: Float in [-96, 0, -24, 0] {
            chain.node["gain"]?.value = value
            let level = try clicks(chain, &meters, 9_600)
            #expect(level < -60)
        }
        for value: Float in [0, 1] {
            chain.rig.engine.mainMixerNode.input(0).volume = value
            let level = try clicks(chain, &meters, 9_600)
            #expect(level < -60)
        }
    }

    /// A resampler's remainder must not be lost because the other one has another channel count.
    @Test(arguments: [44_100.0, 48_000, 96_000])
    func `alternating mono and stereo on a mixer input does not click`(rate: Double) throws {
        let rig = EngineRig()
        let sources = [1, 2].map { sineSource(50, rate: rate, channels: $0, amplitude: 0.9, name: "\($0) channels") }
        for source in sources { try rig.engine.attach(source) }
        try rig.engine.connect(sources[0], to: rig.engine.mainMixerNode, bus: 0)
        try rig.start()
        var meters = [ClickMeter(), ClickMeter()]
        for k in 1...6 {
            let output = try rig.render(4_800, blocks: [64])
            for c in 0..<2 { for sample in output[c] { meters[c].add(sample) } }
            try rig.engine.connect(sources[k % 2], to: rig.engine.mainMixerNode, bus: 0)
        }
        for meter in meters { #expect(meter.level < -60) }
    }

    private func clicks(_ chain: UnitChain, _ meters: inout [ClickMeter], _ frames: Int) throws -> Double {
        let output = try chain.rig.render(frames, blocks: [64])
        for c in 0..<2 {
            meters[c].restart()
            for sample in output[c] { meters[c].add(sample) }
        }
        return meters.map(\.level).max() ?? 0
    }

    @Test(arguments: EngineUnitTests.names.filter { $0 != "generator" })
    func `a full sweep of any parameter does not click`(name: String) throws {
        let chain = try chain(name)
        var meters = [ClickMeter(), ClickMeter()]
        _ = try clicks(chain, &meters, 24_000)
        #expect(!chain.node.parameters.isEmpty)
        for parameter in chain.node.parameters {
            let range = parameter.information.range
            let before = parameter.value
            for value in [range.upperBound, range.lowerBound, range.upperBound, before] {
                let steadyBefore = try clicks(chain, &meters, 4_800)
                parameter.value = value
                let moving = try clicks(chain, &meters, 9_600)
                let steadyAfter = try clicks(chain, &meters, 4_800)
                let steady = max(steadyBefore, steadyAfter)
                #expect(
                    moving < max(-60, steady + 3), "\(parameter.information.identifier) → \(value), \(steady) at rest")
            }
        }
    }

    @Test(arguments: EngineUnitTests.names.filter { $0 != "generator" })
    func `changing presets during playback does not click`(name: String) throws {
        let chain = try chain(name)
        var meters = [ClickMeter(), ClickMeter()]
        _ = try clicks(chain, &meters, 24_000)
        #expect(chain.node.unit.presets.isEmpty == ["gain", "spatializer"].contains(name))
        for preset in chain.node.unit.presets + chain.node.unit.presets.prefix(1) {
            let before = try clicks(chain, &meters, 4_800)
            try chain.node.loadPreset(preset.name)
            let moving = try clicks(chain, &meters, 9_600)
            let after = try clicks(chain, &meters, 4_800)
            #expect(moving < max(-60, before + 3, after + 3), "\(preset.name): \(before), \(after) at rest")
        }
    }
}
