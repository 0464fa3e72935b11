// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioEngine

@Suite(.optimized) struct EngineGraphTests {
    /// A graph of 10 to 40 nodes from a seed.
    private func randomGraph(_ seed: UInt64) throws -> EngineRig {
        var random = SeededRandom(seed: seed)
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let rig = EngineRig()
        let rates = [48_000.0, 44_100, 96_000, 32_000, 22_050, 8_000]
        let units: [UnitType] = [.gain, .equalizer, .compressor, .delay, .limiter, .gate]
        var sounding: [AudioNode] = []
        var unheard: Set<Int> = []
        func add(_ node: AudioNode, from inputs: [AudioNode]) throws {
            try rig.engine.attach(node)
            for input in inputs {
                try rig.engine.connect(input, to: node)
                unheard.remove(input.id)
            }
            sounding.append(node)
            unheard.insert(node.id)
        }
        for k in 0..<(2 + pick(5)) {
            let rate = rates[pick(rates.count)]
            try add(
                sineSource(
                    100 + 50 * Double(pick(20)), rate: rate, channels: 1 + pick(2), amplitude: 0.1, name: "source \(k)"),
                from: [])
        }
        for k in 0..<(6 + pick(28)) {
            let input = sounding[pick(sounding.count)]
            switch pick(6) {
            case 0:
                let mixer = AudioMixerNode(channelCount: 1 + pick(2), name: "mixer \(k)")
                mixer.outputVolume = 0.5
                try add(mixer, from: (0..<(1 + pick(4))).map { _ in sounding[pick(sounding.count)] })
                mixer.input(0).pan = Float(random.unit())
            case 1:
                let format = AudioFormat(sampleRate: rates[pick(rates.count)], channelCount: 1 + pick(2))
                try add(AudioConverterNode(to: format, name: "converter \(k)"), from: [input])
            default:
                let unit = AudioUnitEffect(units[pick(units.count)], name: "unit \(k)")
                try add(unit, from: [input])
                for parameter in unit.parameters.prefix(3) {
                    let range = parameter.information.range
                    let value = range.lowerBound + (range.upperBound - range.lowerBound) * Float(random.unit())
                    try parameter.setValue(min(value, 0), ramp: 0.03, at: Int64(pick(8_000)))
                }
            }
        }
        rig.engine.mainMixerNode.outputVolume = 0.3
        for node in sounding where unheard.contains(node.id) {
            try rig.engine.connect(node, to: rig.engine.mainMixerNode)
        }
        try rig.start()
        return rig
    }

    @Test(arguments: 1...24)
    func `any graph gives the same samples at every block size`(seed: Int) throws {
        let expected = try randomGraph(UInt64(seed)).render(9_000)
        #expect(expected[0].contains { abs($0) > 1e-4 })
        for blocks in [[1], [64], [4_096], [7, 300, 1, 2_000]] {
            let got = try randomGraph(UInt64(seed)).render(9_000, blocks: blocks)
            for c in 0..<2 { #expect(errorDecibels(expected[c], got[c]) < -120, "\(blocks)") }
        }
    }

    @Test(arguments: [1, 2, 3])
    func `frequent graph edits all take effect and are inaudible`(seed: Int) throws {
        let report = try EditStorm.run(seconds: 20, seed: UInt64(seed))
        #expect(report.missed.isEmpty)
        #expect(report.edits > 250 && report.refused > 10)
        #expect(report.clickLevel < -60)
        #expect(report.toneLevels.least > -1 && report.toneLevels.greatest < 1)
        #expect(report.pauses.count > 5 && report.pauses.error < -80)
        #expect(report.finalError < -50)
        #expect(report.frames.heard == report.frames.rendered)
    }

    @Test func `one source can feed several nodes at two rates`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(400, amplitude: 0.01)
        let low = AudioConverterNode(to: AudioFormat(sampleRate: 16_000, channelCount: 1), name: "low")
        let high = AudioConverterNode(to: AudioFormat(sampleRate: 96_000, channelCount: 2), name: "high")
        try rig.engine.attach(source)
        try rig.engine.attach(low)
        try rig.engine.attach(high)
        try rig.engine.connect(source, to: low)
        try rig.engine.connect(source, to: high)
        try rig.engine.connect(low, to: rig.engine.mainMixerNode, bus: 0)
        try rig.engine.connect(high, to: rig.engine.mainMixerNode, bus: 1)
        for bus in 2..<32 { try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: bus) }
        try rig.start()
        rig.engine.mainMixerNode.input(0).isMuted = true
        rig.engine.mainMixerNode.input(1).isMuted = true
        _ = try rig.render(9_600)
        let direct = try rig.render(12_000)[0]
        #expect(sineDefect(direct, frequency: 400, rate: 48_000, amplitude: 0.3) < -100)
        for bus in 2..<32 { rig.engine.mainMixerNode.input(bus).isMuted = true }
        for bus in 0..<2 {
            rig.engine.mainMixerNode.input(bus).isMuted = false
            _ = try rig.render(9_600)
            let converted = try rig.render(12_000)[0]
            #expect(abs(decibels(Double(converted.max() ?? 0) / 0.01)) < 0.05)
            #expect(sineDefect(converted, frequency: 400, rate: 48_000, amplitude: 0.01) < -60)
            rig.engine.mainMixerNode.input(bus).isMuted = true
        }
    }

    @Test func `256 mixer inputs sound, and a 257th is rejected`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(200, amplitude: 0.5 / 256)
        try rig.engine.attach(source)
        for _ in 0..<256 { try rig.engine.connect(source, to: rig.engine.mainMixerNode) }
        #expect(throws: AudioEngineError.noSuchBus(node: "main mixer", bus: 256, count: 256)) {
            try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        }
        try rig.start()
        let output = try rig.render(4_800)[0]
        let expected = (0..<4_800).map { sine($0, frequency: 200, rate: 48_000) }
        #expect(errorDecibels(expected, output) < -110)
    }

    @Test func `adding or removing an input leaves the other inputs unchanged`() throws {
        for channels in 1...2 {
            let rig = EngineRig()
            let steady = sineSource(100, amplitude: 0.3, name: "steady")
            let other = sineSource(400, channels: channels, amplitude: 0, name: "other")
            for node in [steady, other] { try rig.engine.attach(node) }
            try rig.engine.connect(steady, to: rig.engine.mainMixerNode, bus: 0)
            try rig.start()
            var output = try rig.render(2_400)[0]
            try rig.engine.connect(other, to: rig.engine.mainMixerNode, bus: 1)
            output += try rig.render(2_400)[0]
            try rig.engine.connect(other, to: rig.engine.mainMixerNode, bus: 2)
            try rig.engine.disconnectNodeInput(rig.engine.mainMixerNode, bus: 1)
            output += try rig.render(2_400)[0]
            try rig.engine.detach(other)
            output += try rig.render(2_400)[0]
            #expect(output == (0..<9_600).map { sine($0, frequency: 100, rate: 48_000, amplitude: 0.3) })
        }
    }

    @Test func `replacing a mono source with a stereo one does not click`() throws {
        let rig = EngineRig()
        let mono = sineSource(100, amplitude: 0.4, name: "mono")
        let stereo = sineSource(100, channels: 2, amplitude: 0.4, name: "stereo")
        for node in [mono, stereo] { try rig.engine.attach(node) }
        try rig.engine.connect(mono, to: rig.engine.mainMixerNode, bus: 0)
        try rig.start()
        var output = try rig.render(2_400)
        for source in [stereo, mono] {
            try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: 0)
            let next = try rig.render(2_400)
            for c in 0..<2 { output[c] += next[c] }
        }
        // The same sound on both sides: the fade from one to the other is inaudible.
        let expected = (0..<7_200).map { sine($0, frequency: 100, rate: 48_000, amplitude: 0.4) }
        for c in 0..<2 { #expect(errorDecibels(expected, output[c]) < -110) }
    }

    @Test func `a reverb keeps its tail when its input is disconnected`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(100, amplitude: 0.25)
        let reverb = AudioUnitEffect(.reverb)
        reverb["mix"]?.value = 100
        for node in [source, reverb] { try rig.engine.attach(node) }
        try rig.engine.connect(source, to: reverb)
        try rig.engine.connect(reverb, to: rig.engine.mainMixerNode)
        try rig.start()
        var output = try rig.render(24_000)[0]
        try rig.engine.disconnectNodeInput(reverb)
        output += try rig.render(4_800)[0]
        let before = output[22_000..<24_000].map(abs).max() ?? 0
        let after = output[25_000..<27_000].map(abs).max() ?? 0
        #expect(decibels(Double(after / before)) > -20)
        #expect(clickLevel(Array(output[20_000...])) < -60)
    }

    @Test func `errors about impossible formats name the nodes`() throws {
        let rig = EngineRig()
        let source = sineSource(300, name: "voice")
        let gain = AudioUnitEffect(.gain, name: "gain")
        for node in [source, gain] { try rig.engine.attach(node) }
        let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let slow = AudioFormat(sampleRate: 8_000, channelCount: 1)
        // A mixer accepts any channel count, but only one sample rate.
        try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: 0, format: slow)
        #expect(
            throws: AudioEngineError.formatMismatch(
                from: "voice", to: "main mixer", given: slow, wanted: AudioFormat(sampleRate: 48_000, channelCount: 1))
        ) { try rig.start() }
        // A unit works in the connection's format; the source is converted to it.
        try rig.engine.disconnectNodeInput(rig.engine.mainMixerNode)
        try rig.engine.connect(source, to: gain, format: stereo)
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode, bus: 0)
        try rig.start()
        #expect(rig.engine.description.contains("voice (48 kHz, 1 channel, as 48 kHz, 2 channels)"))
        // During playback an impossible edit is refused completely.
        let text = rig.engine.description
        #expect(throws: AudioEngineError.self) {
            try rig.engine.edit { edit throws(AudioEngineError) in
                try edit.disconnectNodeInput(rig.engine.mainMixerNode, bus: 0)
                try edit.connect(gain, to: rig.engine.mainMixerNode, bus: 1, format: slow)
            }
        }
        _ = try rig.render(4_800)
        #expect(rig.engine.description == text)
        #expect(throws: AudioEngineError.cycle(["gain", "gain"])) { try rig.engine.connect(gain, to: gain) }
    }

    @Test func `a unit that cannot be created is named in the error, and the graph continues to play`() throws {
        struct Refusal: Error, CustomStringConvertible { var description: String { "not today" } }
        let rig = EngineRig(channels: 1)
        let source = sineSource(300)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: 0)
        let bad = AudioUnitEffect(unit: UnitType.gain.description, name: "bad") { _, _ in throw Refusal() }
        try rig.engine.attach(bad)
        try rig.start()
        let before = try rig.render(2_400)[0]
        try rig.engine.edit { edit throws(AudioEngineError) in
            try edit.connect(source, to: bad)
            try edit.connect(bad, to: rig.engine.mainMixerNode, bus: 0)
        }
        let after = try rig.render(2_400)[0]
        #expect(before + after == (0..<4_800).map { sine($0, frequency: 300, rate: 48_000) })
        #expect(rig.engine.state.withLock { $0.failure } == .unitFailed(node: "bad", reason: "not today"))
        rig.engine.stop()
        #expect(throws: AudioEngineError.unitFailed(node: "bad", reason: "not today")) { try rig.start() }
    }

    /// If a graph could not be compiled, a node whose memory was prepared for it must not exceed the memory of the current one.
    @Test func `a graph that fails to compile leaves no trace in its nodes`() throws {
        struct Refusal: Error {}
        let rig = EngineRig(channels: 1)
        let mono = sineSource(50)
        let stereo = sineSource(50, channels: 2)
        let gain = AudioUnitEffect(.gain)
        let bad = AudioUnitEffect(unit: UnitType.gain.description, name: "bad") { _, _ in throw Refusal() }
        for node in [mono, stereo, gain, bad] as [AudioNode] { try rig.engine.attach(node) }
        try rig.engine.connect(mono, to: gain)
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode, bus: 0)
        try rig.start()
        var output = try rig.render(2_400)[0]
        let state = try #require(gain.currentState)
        try rig.engine.edit { edit throws(AudioEngineError) in
            try edit.connect(stereo, to: gain)
            try edit.connect(gain, to: bad)
            try edit.connect(bad, to: rig.engine.mainMixerNode, bus: 0)
        }
        gain.bypass = true
        output += try rig.render(2_400)[0]
        #expect(rig.engine.failure != nil && gain.currentState === state)
        // Without the failed part the graph is a different one, which fades in, with the bypass.
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode, bus: 0)
        output += try rig.render(9_600)[0]
        #expect(rig.engine.failure == nil && gain.currentState !== state)
        #expect(clickLevel(output) < -60)
        gain["gain"]?.value = -60
        #expect((try rig.render(9_600)[0].suffix(960).max() ?? 0) > 0.4)
    }

    @Test func `a detached node can join another engine after it has faded out`() throws {
        let rig = EngineRig(channels: 1)
        let node = AudioUnitEffect(.gain, name: "gain")
        let source = sineSource(300)
        for each in [source, node] { try rig.engine.attach(each) }
        try rig.engine.connect(source, to: node)
        try rig.engine.connect(node, to: rig.engine.mainMixerNode)
        try rig.start()
        _ = try rig.render(1_000)
        try rig.engine.detach(node)
        let other = AudioEngine()
        #expect(throws: AudioEngineError.attachedElsewhere("gain")) { try other.attach(node) }
        _ = try rig.render(2_000)
        try other.attach(node)
        try other.detach(node)
        try rig.engine.attach(node)
        rig.engine.stop()
        try rig.engine.detach(node)
        try other.attach(node)
    }

    @Test func `a failed edit leaves its nodes free for other engines`() throws {
        let engine = AudioEngine()
        let node = AudioUnitEffect(.gain, name: "free")
        #expect(throws: AudioEngineError.noOutput("output")) {
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(node)
                try edit.connect(engine.outputNode, to: node)
            }
        }
        #expect(engine.attachedNodes.count == 3)
        // A deallocated engine does not keep nodes either.
        do { try AudioEngine().attach(node) }
        try engine.attach(node)
    }

    @Test func `a new connection is heard in the next block`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(300)
        try rig.engine.attach(source)
        try rig.start()
        for _ in 0..<20 {
            #expect(try rig.render(3_200, blocks: [64])[0].suffix(64).allSatisfy { $0 == 0 })
            try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: 0)
            #expect(try rig.render(64, blocks: [64])[0].contains { $0 != 0 })
            try rig.engine.disconnectNodeInput(rig.engine.mainMixerNode, bus: 0)
        }
    }
}
