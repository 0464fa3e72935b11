// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotVoiceProcessing
import Foundation
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct VoiceProcessingNodeTests {
    /// A loudspeaker and its own microphone: what the engine plays returns after 20 ms at −6 dB.
    @Test(arguments: [false, true])
    func `echo of the output is removed from the input`(comesLater: Bool) throws {
        let engine = AudioEngine()
        let far = AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1), name: "far") {
            time, count, output in
            var random = SeededRandom(seed: UInt64(bitPattern: time))
            for i in 0..<count {
                let envelope = (Int(time) + i) / 9_600 % 2 == 0 ? 0.3 : 0.05
                output[0][i] = Float(envelope * (random.unit() * 2 - 1))
            }
            return count
        }
        let heard = AudioMixerNode(channelCount: 1, name: "voice")
        try engine.attach(far)
        try engine.attach(heard)
        try engine.connect(far, to: engine.mainMixerNode)
        try engine.connect(engine.inputNode, to: heard)
        let sink = AudioSinkNode { _, _, _ in }
        try engine.attach(sink)
        try engine.connect(heard, to: sink)
        let clean = Heard()
        try engine.installTap(on: heard, bufferSize: 480) { samples, count, time in
            clean.add(UnsafeBufferPointer(start: samples[0], count: count), Int(time))
        }
        if !comesLater { engine.setVoiceProcessing(VoiceProcessingOptions()) }
        try engine.enableManualRendering(
            format: AudioFormat(sampleRate: 48_000, channelCount: 1), inputChannelCount: 1, maximumFrameCount: 240)
        let output = AudioBuffer(channelCount: 1, frameCapacity: 240)
        let input = AudioBuffer(channelCount: 1, frameCapacity: 240)
        var played = [Float](repeating: 0, count: 960)
        var echo: [Float] = []
        for block in 0..<1_000 {
            if comesLater, block == 20 { engine.setVoiceProcessing(VoiceProcessingOptions()) }
            for i in 0..<240 { input.channels[0][i] = 0.5 * played[played.count - 960 + i] }
            echo += UnsafeBufferPointer(start: input.channels[0], count: 240)
            try engine.renderOffline(output.channels, frameCount: 240, input: input.channels)
            played += UnsafeBufferPointer(start: output.channels[0], count: 240)
        }
        engine.flushTaps()
        #expect(engine.inputNode.voiceProcessingError == nil)
        func power(_ samples: ArraySlice<Float>) -> Double { samples.reduce(0) { $0 + Double($1 * $1) } }
        let after = 120_000..<230_000
        #expect(10 * log10(power(echo[after]) / max(1e-12, power(clean.samples[after]))) > 25)
        #expect(engine.paths.contains { $0.nodes.first == "input" && $0.latency > 0.02 })
    }

    @Test func `a failed voice processor no longer adds latency`() throws {
        let rig = EngineRig(channels: 1)
        try rig.engine.connect(rig.engine.inputNode, to: rig.engine.mainMixerNode)
        rig.engine.setVoiceProcessing(VoiceProcessingOptions())
        try rig.start(inputs: 1)
        let worker = try #require(rig.engine.inputNode.voiceProcessor)
        #expect(try #require(rig.engine.paths.first).latency > 0.02)
        worker.leave(.failed(code: 1))
        #expect(try #require(rig.engine.paths.first).latency == 0)
    }

    @Test func `latency follows the declared maximum block size in real-time rendering`() throws {
        let latencies = try [64, 2_048].map { maximum in
            let engine = AudioEngine()
            try engine.connect(engine.inputNode, to: engine.mainMixerNode)
            engine.setVoiceProcessing(VoiceProcessingOptions())
            _ = try engine.startRealtimeRendering(
                format: AudioFormat(sampleRate: 48_000, channelCount: 1), inputChannelCount: 1,
                maximumFrameCount: maximum)
            defer { engine.stop() }
            return try #require(engine.inputNode.voiceProcessor).latency
        }
        #expect(latencies[0] < latencies[1])
    }

    @Test func `toggling voice processing during playback does not click`() throws {
        let rig = EngineRig(channels: 1)
        try rig.engine.connect(rig.engine.inputNode, to: rig.engine.mainMixerNode)
        try rig.start(inputs: 1)
        let tone: (Int) -> Float = { sine($0, frequency: 200, rate: 48_000, amplitude: 0.3) }
        var output = try rig.render(9_600, blocks: [240], input: tone)[0]
        rig.engine.setVoiceProcessing(VoiceProcessingOptions.off)
        output += try rig.render(24_000, blocks: [240], input: tone)[0]
        rig.engine.setVoiceProcessing(nil)
        output += try rig.render(9_600, blocks: [240], input: tone)[0]
        #expect(clickLevel(output) < -60)
    }
}
