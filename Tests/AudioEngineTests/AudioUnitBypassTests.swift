// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EngineMeasures
import TestSupport
import Testing

@testable import EarshotAudioEngine

/// The source is mono and the mixer's volume 1. The output of a bypassed unit is the source with the unit's delay.
@Suite struct AudioUnitBypassTests {
    private static let effects = EngineUnitTests.names.filter { $0 != "generator" }

    private func delay(_ chain: UnitChain) throws -> Int {
        Int((try #require(chain.rig.engine.paths.first).latency * 48_000).rounded())
    }

    private func noise(_ n: Int) -> Float {
        var random = SeededRandom(seed: UInt64(n) &+ 1)
        return Float(random.unit()) - 0.5
    }

    @Test(arguments: effects) func `a bypassed unit passes its input bit-exactly at the unit's latency`(name: String)
        throws
    {
        let chain = try UnitChain(name) { self.noise($0) }
        for parameter in chain.node.parameters { parameter.value = parameter.information.range.upperBound }
        _ = try chain.rig.render(4_000)
        let delay = try delay(chain)
        chain.node.bypass = true
        _ = try chain.rig.render(960 + delay, blocks: [64])
        let start = 4_960 + delay
        let got = try chain.rig.render(2_000, blocks: [64, 1, 300])
        for c in 0..<2 { #expect(got[c] == (start..<start + 2_000).map { noise($0 - delay) }) }
        #expect(try self.delay(chain) == delay)
    }

    @Test func `a unit bypassed from the start does not fade`() throws {
        let rig = EngineRig()
        let limiter = AudioUnitEffect(.limiter)
        limiter.bypass = true
        let source = AudioSourceNode { _, count, output in
            for c in 0..<output.count { for i in 0..<count { output[c][i] = 0.5 } }
            return count
        }
        for node in [source, limiter] as [AudioNode] { try rig.engine.attach(node) }
        try rig.engine.connect(source, to: limiter)
        try rig.engine.connect(limiter, to: rig.engine.mainMixerNode)
        try rig.start()
        let delay = Int((try #require(rig.engine.paths.first).latency * 48_000).rounded())
        #expect(delay > 0)
        let output = try rig.render(1_000)[0]
        #expect(output == [Float](repeating: 0, count: delay) + [Float](repeating: 0.5, count: 1_000 - delay))
        #expect(rig.engine.description.contains("bypassed]"))
        #expect(rig.engine.graphviz.contains("bypassed]"))
        limiter.bypass = false
        #expect(!rig.engine.description.contains("bypassed"))
    }

    /// The tone has 50 Hz, as in ``EngineClickTests``, at a level that no unit's gain raises above full scale.
    @Test(arguments: effects) func `toggling bypass during playback does not click`(name: String) throws {
        let gains = try type(name).description.parameters.filter { $0.unit == .decibels }.map(\.range.upperBound)
        let amplitude = 0.9 / Double(decibelsToGain(max(0, gains.max() ?? 0)))
        let chain = try UnitChain(name) { sine($0, frequency: 50, rate: 48_000, amplitude: amplitude) }
        for parameter in chain.node.parameters {  // so that the unit does something
            let range = parameter.information.range
            parameter.value = range.lowerBound + 0.3 * (range.upperBound - range.lowerBound)
        }
        var meter = ClickMeter()
        func clicks(_ frames: Int) throws -> Double {
            meter.restart()
            for sample in try chain.rig.render(frames, blocks: [64])[0] { meter.add(sample) }
            return meter.level
        }
        _ = try clicks(24_000)
        let before = try clicks(9_600)
        for isOn in [true, false, true] {
            chain.node.bypass = isOn
            let moving = try clicks(9_600)
            #expect(moving < max(-60, before + 3), "\(isOn), \(before) at rest")
        }
        for k in 0..<20 {  // turned round in the midst of the fade
            chain.node.bypass = k % 2 == 0
            let moving = try clicks(300)
            #expect(moving < max(-60, before + 3), "turned round, \(before) at rest")
        }
    }

    @Test(arguments: ["limiter", "reverb", "voice-changer"])
    func `the block size does not change the output`(name: String) throws {
        func run(_ blocks: [Int]) throws -> [[Float]] {
            let chain = try UnitChain(name) { self.noise($0) }
            var output = try chain.rig.render(5_000, blocks: blocks)
            for isOn in [true, false, true, false] {
                chain.node.bypass = isOn
                let more = try chain.rig.render(isOn ? 4_321 : 700, blocks: blocks)
                for c in 0..<2 { output[c] += more[c] }
            }
            return output
        }
        let expected = try run([256])
        for blocks in [[1], [7, 64], [4_096], [333, 1, 17]] {
            let got = try run(blocks)
            for c in 0..<2 { #expect(errorDecibels(expected[c], got[c]) < -120, "\(blocks)") }
        }
    }

    @Test func `bypass does not shift a parallel path against the bypassed one`() throws {
        let chain = try UnitChain("limiter") { sine($0, frequency: 1_000, rate: 48_000, amplitude: 0.2) }
        let delay = AudioUnitEffect(.limiter, name: "the same delay")
        try chain.rig.engine.attach(delay)
        try chain.rig.engine.connect(try #require(chain.source), to: delay)
        try chain.rig.engine.connect(delay, to: chain.rig.engine.mainMixerNode)
        _ = try chain.rig.render(9_600)
        let steady = try chain.rig.render(4_800)[0]
        chain.node.bypass = true
        let moving = try chain.rig.render(4_800)[0]  // whole periods of the tone
        #expect(errorDecibels(steady, moving) < -60)
        #expect(errorDecibels(steady, try chain.rig.render(4_800)[0]) < -60)
    }

    @Test func `a bypassed unit with different input and output channels maps them like a connection`() throws {
        let rig = EngineRig()
        let spatializer = AudioUnitEffect(try type("spatializer"))
        let source = sineSource(300, channels: 1)
        for node in [source, spatializer] as [AudioNode] { try rig.engine.attach(node) }
        try rig.engine.connect(source, to: spatializer)
        try rig.engine.connect(spatializer, to: rig.engine.mainMixerNode)
        spatializer.bypass = true
        try rig.start()
        let output = try rig.render(2_000)
        #expect(output[0] == output[1])
        let delay = Int((try #require(rig.engine.paths.first).latency * 48_000).rounded())
        #expect(
            Array(output[0][delay...])
                == (0..<2_000 - delay).map { sine($0, frequency: 300, rate: 48_000, amplitude: 0.5) })
    }

    @Test func `a tail is correct after bypass ends, and a bypassed generator is silent`() throws {
        func tail(_ bypass: Bool) throws -> [Float] {
            let chain = try UnitChain("reverb") { $0 < 4_800 ? self.noise($0) : 0 }
            chain.node["mix"]?.value = 100
            _ = try chain.rig.render(4_000)
            chain.node.bypass = bypass
            _ = try chain.rig.render(4_000)
            chain.node.bypass = false
            _ = try chain.rig.render(2_000)
            return try chain.rig.render(4_000)[0]
        }
        let expected = try tail(false)
        #expect(expected.contains { abs($0) > 1e-3 })
        #expect(try tail(true) == expected)
        let generator = try UnitChain("generator") { _ in 0 }
        #expect(try generator.rig.render(4_800)[0].contains { abs($0) > 0.01 })
        generator.node.bypass = true
        _ = try generator.rig.render(4_800)
        #expect(try generator.rig.render(4_800)[0].allSatisfy { $0 == 0 })
    }

    @Test func `silence is flagged after passing a bypassed unit's delay`() throws {
        let limiter = AudioUnitEffect(.limiter)
        limiter.bypass = true
        let mono = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let state = try limiter.state(
            NodeFormats(inputs: [0: mono], output: mono), buses: [0], engineRate: 48_000)
        let (delay, block) = (Int(state.latency), 64)
        #expect(delay > 0)
        let (from, to) = (
            AudioBuffer(channelCount: 1, frameCapacity: block), AudioBuffer(channelCount: 1, frameCapacity: block)
        )
        let flags = UnsafeMutablePointer<Bool>.allocate(capacity: 2)
        flags.initialize(repeating: false, count: 2)
        defer { flags.deallocate() }
        var buses = [RenderBus(from.channels, silent: flags), RenderBus(to.channels, silent: flags + 1)]
        var cycle = IOCycle(
            frameCount: block, sampleTime: 0, hostTime: .now(), inputLatency: 0, outputLatency: 0, input: from.channels,
            output: to.channels)
        // One block of sound, then blocks that are flagged as silent.
        for k in 0..<delay / block + 10 {
            for i in 0..<block { from.channels[0][i] = k == 0 ? 0.25 : 0 }
            (flags[0], flags[1]) = (k > 0, false)
            buses.withUnsafeMutableBufferPointer { buses in
                guard let buses = buses.baseAddress else { Issue.record("no buses"); return }
                let step = RenderStep(
                    function: state.function, state: state.pointer, inputs: buses, inputCount: 1, outputs: buses + 1,
                    outputCount: 1, domain: 0)
                withUnsafePointer(to: &cycle) {
                    var call = RenderCall(
                        step, frameCount: block, sampleTime: Int64(k * block), hostTime: .now(), cycle: $0, offset: 0,
                        changeCount: 0)
                    state.function(state.pointer, &call)
                }
            }
            let frames = (0..<block).map { k * block + $0 - delay }
            #expect(
                (0..<block).map { to.channels[0][$0] } == frames.map { (0..<block).contains($0) ? 0.25 : 0 },
                "block \(k)")
            // Before the sound no block was flagged as silent.
            if k > 0 { #expect(flags[1] == (k * block >= block + delay), "block \(k), \(delay) frames late") }
        }
    }
}
