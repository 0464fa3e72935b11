// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct GraphDescriptionTests {
    @Test func `the graph description lists nodes, formats and delays`() throws {
        let rig = EngineRig()
        let source = sineSource(440, rate: 44_100, name: "slow \"voice\"")
        let gain = AudioUnitEffect(.gain)
        try rig.engine.attach(source)
        try rig.engine.attach(gain)
        try rig.engine.connect(source, to: gain)
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode)
        try rig.start()
        let text = rig.engine.description
        #expect(text.contains("Gain ← slow \"voice\" (44.1 kHz, 1 channel)"))
        #expect(text.contains("main mixer ← 0: Gain (44.1 kHz, 1 channel, as 48 kHz, 1 channel)"))
        #expect(text.contains("input: not in use"))
        let picture = rig.engine.graphviz
        #expect(picture.hasPrefix("digraph engine {") && picture.hasSuffix("}"))
        #expect(picture.contains("slow \\\"voice\\\""))
        let path = try #require(rig.engine.paths.first)
        #expect(path.nodes == ["slow \"voice\"", "Gain", "main mixer", "output"])
        #expect((0.001...0.003).contains(path.latency))
    }

    /// The stated delay of a path is its delay.
    @Test(arguments: [44_100.0, 96_000, 8_000])
    func `the actual delay of a conversion is the reported one`(rate: Double) throws {
        let rig = EngineRig(channels: 1)
        let frequency = 500.0
        let source = sineSource(frequency, rate: rate)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(20_000)[0]
        let latency = try #require(rig.engine.paths.first).latency
        let expected = (0..<20_000).map { n -> Float in
            sine(1, frequency: frequency * (Double(n) / 48_000 - latency), rate: 1)
        }
        #expect(errorDecibels(Array(expected[6_000...]), Array(output[6_000...])) < -60)
    }

    /// There are 2^30 paths: a useful number is listed, with the longest among them.
    @Test func `a graph with a billion paths lists only some, the longest among them`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(440)
        try rig.engine.attach(source)
        var last: AudioNode = source
        for i in 0..<30 {
            let mixer = AudioMixerNode(name: "mixer \(i)")
            try rig.engine.attach(mixer)
            try rig.engine.connect(last, to: mixer)
            if i == 29 {
                let limiter = AudioUnitEffect(.limiter)
                try rig.engine.attach(limiter)
                try rig.engine.connect(last, to: limiter)
                try rig.engine.connect(limiter, to: mixer)
            } else {
                try rig.engine.connect(last, to: mixer)
            }
            last = mixer
        }
        try rig.engine.connect(last, to: rig.engine.mainMixerNode)
        try rig.start()
        let paths = rig.engine.paths
        #expect(paths.count == AudioEngine.pathLimit)
        let longest = try #require(paths.first)
        #expect(longest.nodes.count == 34 && longest.nodes[30] == "Limiter", "\(longest.nodes)")
        #expect(longest.latency > 0 && longest.latency == paths.map(\.latency).max())
        #expect(rig.engine.description.count < 10_000)
    }
}
