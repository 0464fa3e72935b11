// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioEngine

/// Every built-in unit, in the engine.
@Suite(.optimized) struct EngineUnitTests {
    static let names = UnitType.all.compactMap(\.description.component.subtype)

    /// Sound, silence for long enough to fall asleep, and sound again from the middle of a block on.
    private func signal(_ n: Int) -> Float {
        guard n < 3_000 || (20_001..<23_000).contains(n) else { return 0 }
        return sine(n, frequency: 220, rate: 48_000, amplitude: 0.2)
            + sine(n, frequency: 1_730, rate: 48_000, amplitude: 0.1)
    }

    private func settings(_ unit: UnitDescription, _ node: AudioUnitEffect, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for parameter in node.parameters {
            let range = parameter.information.range
            for k in 0..<3 {
                let value = range.lowerBound + (range.upperBound - range.lowerBound) * Float(random.unit())
                try parameter.setValue(
                    value, ramp: 0.05 * random.unit(), at: Int64(k * 9_000) + Int64(random.next() % 9_000))
            }
        }
    }

    @Test(arguments: names)
    func `blocks of any length give the same samples while parameters change`(name: String) throws {
        func run(_ blocks: [Int]) throws -> [[Float]] {
            let chain = try UnitChain(name, signal: signal)
            try settings(chain.node.unit, chain.node, seed: 7)
            return try chain.rig.render(26_000, blocks: blocks)
        }
        let expected = try run([256])
        #expect(expected.contains { $0.contains { abs($0) > 1e-3 } })
        for blocks in [[1], [7], [64], [4_096], [1, 4_096, 333, 17, 2_048]] {
            let got = try run(blocks)
            for c in 0..<2 { #expect(errorDecibels(expected[c], got[c]) < -120, "\(blocks)") }
        }
    }

    @Test(arguments: names)
    func `a unit reattached or recreated at another rate sounds like the first`(name: String) throws {
        let engine = AudioEngine()
        let node = AudioUnitEffect(try type(name))
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        /// The unit with a source, connected while the engine renders.
        func pass(_ node: AudioUnitEffect, _ format: AudioFormat) throws -> [Float] {
            let source = burstSource(rate: format.sampleRate, channels: format.channelCount)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(node)
                if node.numberOfInputs != 0 {
                    try edit.attach(source)
                    try edit.connect(source, to: node)
                }
                try edit.connect(node, to: engine.mainMixerNode, bus: 0)
            }
            let output = try render(engine, 12_000, channels: format.channelCount)
            try engine.edit { edit throws(AudioEngineError) in
                try edit.detach(node)
                if node.numberOfInputs != 0 { try edit.detach(source) }
            }
            _ = try render(engine, 4_800, channels: format.channelCount)
            return output
        }
        let silence = AudioSourceNode(name: "silence") { _, _, _ in 0 }
        try engine.attach(silence)
        try engine.connect(silence, to: engine.mainMixerNode, bus: 1)
        try engine.enableManualRendering(format: format)
        let first = try pass(node, format)
        #expect(first.contains { abs($0) > 1e-3 })
        #expect(try pass(node, format) == first)
        engine.stop()
        let other = AudioFormat(sampleRate: 44_100, channelCount: 1)
        try engine.enableManualRendering(format: other)
        #expect(try pass(node, other) != first)
        engine.stop()
        try engine.enableManualRendering(format: format)
        #expect(try pass(node, format) == first)
        #expect(try pass(AudioUnitEffect(try type(name)), format) == first)
    }

    @Test(arguments: names)
    func `NaN and huge samples do not spread, and the output soon recovers`(name: String) throws {
        let poison: [Float] = [
            .nan, .infinity, -.infinity, .leastNormalMagnitude / 100, -.leastNonzeroMagnitude, 1e30, -1e30,
            .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.3,
        ]
        func run(_ poisoned: Bool) throws -> (UnitChain, [[Float]]) {
            let chain = try UnitChain(name) { n in
                if (4_800..<5_800).contains(n) { return poisoned ? poison[n % poison.count] : 0 }
                return sine(n, frequency: 300, rate: 48_000, amplitude: 0.25)
            }
            chain.node["gain"]?.value = -6
            return (chain, try chain.rig.render(360_000, blocks: [64, 1_000, 7]))
        }
        let (chain, got) = try run(true)
        let (_, expected) = try run(false)
        for c in 0..<2 {
            #expect(got[c].allSatisfy { $0.isFinite && abs($0) <= 1_000_000 })
            #expect(errorDecibels(Array(expected[c][320_000...]), Array(got[c][320_000...])) < -60)
        }
        if let source = chain.source { #expect(source.faults.invalidSamples == 600) }
        #expect(chain.rig.engine.outputNode.faultCount == 0)
        // A parameter is not accepted either.
        for parameter in chain.node.parameters {
            let before = parameter.value
            parameter.value = .nan
            parameter.value = -.infinity
            try parameter.setValue(.infinity)
            #expect(parameter.value == before)
            parameter.value = 1e30
            #expect(parameter.information.range.contains(parameter.value))
        }
    }

    @Test func `a unit that outputs NaN is silenced, counted and recovers`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(300)
        let probe = ProbeUnit { frame in frame >= 2_000 && frame < 3_000 ? .nan : 1 }
        let node = probe.node(memory: 0)
        for each in [source, node] as [AudioNode] { try rig.engine.attach(each) }
        try rig.engine.connect(source, to: node)
        try rig.engine.connect(node, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(6_000, blocks: [100])[0]
        #expect(output.allSatisfy { $0.isFinite })
        #expect(output[2_000..<3_000].allSatisfy { $0 == 0 })
        #expect(output[3_000..<6_000] == (3_000..<6_000).map { sine($0, frequency: 300, rate: 48_000) }[...])
        #expect(node.faultCount == 10)
        #expect(probe.state.pointee.resets == 10)
    }

    @Test(arguments: [[256], [1], [100, 3]])
    func `silence costs no processing, and sound resumes on the exact frame`(blocks: [Int]) throws {
        let rig = EngineRig(channels: 1)
        let source = AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1)) { time, count, output in
            for i in 0..<count {
                let n = Int(time) + i
                output[0][i] = n < 1_000 || n >= 30_017 ? sine(n, frequency: 300, rate: 48_000) : 0
            }
            return count
        }
        let first = ProbeUnit()
        let reverb = AudioUnitEffect(.reverb)
        reverb["decay"]?.value = 0.1
        let last = ProbeUnit()
        let nodes = [source, first.node(memory: 480), reverb, last.node(memory: 0)]
        for node in nodes { try rig.engine.attach(node) }
        for (a, b) in zip(nodes, nodes.dropFirst()) { try rig.engine.connect(a, to: b) }
        try rig.engine.connect(nodes[3], to: rig.engine.mainMixerNode)
        try rig.start()
        _ = try rig.render(29_000, blocks: blocks)
        #expect((1_400...3_000).contains(first.state.pointee.frames))
        let before = (first.state.pointee.calls, last.state.pointee.calls)
        let quiet = try rig.render(1_000, blocks: blocks)[0]
        // The reverb's tail has ended: the unit after it sleeps, too.
        #expect(first.state.pointee.calls == before.0 && last.state.pointee.calls == before.1)
        #expect(quiet.allSatisfy { $0 == 0 })
        let frames = first.state.pointee.frames
        _ = try rig.render(1_000, blocks: blocks)
        #expect(first.state.pointee.frames - frames == 2_000 - 1_017)
    }
}

/// A source, a unit and the output.
struct UnitChain {
    let rig = EngineRig()
    let node: AudioUnitEffect
    let source: AudioSourceNode?

    init(_ name: String, signal: @escaping @Sendable (Int) -> Float) throws {
        node = AudioUnitEffect(try type(name))
        try rig.engine.attach(node)
        if node.numberOfInputs == 0 {
            source = nil
        } else {
            let source = AudioSourceNode { time, count, output in
                for c in 0..<output.count { for i in 0..<count { output[c][i] = signal(Int(time) + i) } }
                return count
            }
            try rig.engine.attach(source)
            try rig.engine.connect(source, to: node)
            self.source = source
        }
        try rig.engine.connect(node, to: rig.engine.mainMixerNode)
        try rig.start()
    }
}

func type(_ name: String) throws -> UnitType {
    try #require(UnitType.all.first { $0.description.component.subtype == name })
}

/// Noise and a tone that begin at the source's first frame.
func burstSource(rate: Double, channels: Int) -> AudioSourceNode {
    let state = Heard()
    state.starts = [0]
    return AudioSourceNode(format: AudioFormat(sampleRate: rate, channelCount: channels)) { _, count, output in
        let start = state.starts[0]
        for i in 0..<count {
            let x = sine(start + i, frequency: 331, rate: rate, amplitude: (start + i) % 4_000 < 2_000 ? 0.4 : 0.05)
            for c in 0..<output.count { output[c][i] = c == 0 ? x : 0.5 * x }
        }
        state.starts[0] = start + count
        return count
    }
}

/// The first channel.
func render(_ engine: AudioEngine, _ frameCount: Int, channels: Int, block: Int = 240) throws -> [Float] {
    let buffer = AudioBuffer(channelCount: channels, frameCapacity: block)
    var result: [Float] = []
    while result.count < frameCount {
        try engine.renderOffline(buffer.channels, frameCount: block)
        result += UnsafeBufferPointer(start: buffer.channels[0], count: block)
    }
    return result
}

/// A unit that counts its calls and multiplies by a function of the frame.
final class ProbeUnit: @unchecked Sendable {
    struct State {
        var calls = 0
        var frames = 0
        var resets = 0
        var factor: (Int) -> Float
    }
    let state: UnsafeMutablePointer<State>

    init(_ factor: @escaping (Int) -> Float = { _ in 1 }) {
        state = .allocate(capacity: 1)
        state.initialize(to: State(factor: factor))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    func node(memory: Int) -> AudioUnitEffect {
        let description = UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "probe", manufacturer: "test"), name: "Probe",
            summary: "Counts.", parameters: [])
        let functions = UnitFunctions(
            set: { _, _, _ in },
            process: { state, block in
                let state = state.assumingMemoryBound(to: State.self)
                let block = block.assumingMemoryBound(to: UnitBlock.self).pointee
                for c in 0..<block.output.count {
                    for i in block.offset..<block.offset + block.frameCount {
                        let frame = state.pointee.frames + i - block.offset
                        block.output[c][i] = block.input[c][i] * state.pointee.factor(frame)
                    }
                }
                state.pointee.calls += 1
                state.pointee.frames += block.frameCount
            },
            reset: { $0.assumingMemoryBound(to: State.self).pointee.resets += 1 })
        return AudioUnitEffect(unit: description) { [self] rate, channels in
            UnitInstance(
                description: description, functions: functions, state: UnsafeMutableRawPointer(state), sampleRate: rate,
                inputChannelCount: channels, outputChannelCount: channels, latency: 0, memory: memory,
                free: { _ in withExtendedLifetime(self) {} })
        }
    }
}
