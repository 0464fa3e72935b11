// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase
@testable import EarshotAudioDSP
@testable import EarshotAudioEngine

/// Graphs whose rendering is measured.
public enum Graphs {
    /// Eight rows of gains into a mixer, 128 nodes in total: little more than the engine's own work.
    public static func gains() throws -> AudioEngine {
        let engine = AudioEngine()
        try engine.edit { edit throws(AudioEngineError) in
            for row in 0..<8 {
                let source: AudioNode = row == 0 ? engine.inputNode : tone(row)
                var last = source
                for _ in 0..<(row < 6 ? 15 : 14) {
                    try edit.attach(last)
                    let gain = AudioUnitEffect(.gain)
                    try edit.attach(gain)
                    try edit.connect(last, to: gain)
                    last = gain
                }
                try edit.connect(last, to: engine.mainMixerNode)
            }
        }
        return engine
    }

    /// A source that copies from a table.
    public static func tone(_ number: Int) -> AudioSourceNode {
        let length = 4_800
        let table = AudioBuffer(channelCount: 2, frameCapacity: length + 8_192)
        for c in 0..<2 {
            for i in 0..<length + 8_192 {
                table.channels[c][i] = 0.1 * Float(sin(2 * Double.pi * Double(i * (10 + number * 3)) / 4_800))
            }
        }
        return AudioSourceNode(
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), name: "tone \(number)"
        ) { time, count, output in
            let at = Int(time % Int64(length))
            for c in 0..<output.count { copySamples(output[c], table.channels[c] + at, count) }
            return count
        }
    }

    /// Nodes in a row from the input to the output.
    public static func chain(_ count: Int, _ node: () -> AudioNode) throws -> AudioEngine {
        let engine = AudioEngine()
        try engine.edit { edit throws(AudioEngineError) in
            var last: AudioNode = engine.inputNode
            for _ in 0..<count {
                let next = node()
                try edit.attach(next)
                try edit.connect(last, to: next)
                last = next
            }
            try edit.connect(last, to: engine.outputNode)
        }
        return engine
    }

    /// A unit that does nothing.
    public static func emptyUnit() -> AudioUnitEffect {
        let description = UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "nothing", manufacturer: "bench"),
            name: "Nothing", summary: "Leaves the sound alone.", parameters: [])
        return AudioUnitEffect(unit: description) { rate, channels in
            UnitInstance(
                description: description,
                functions: UnitFunctions(set: { _, _, _ in }, process: { _, _ in }, reset: { _ in }),
                state: UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16), sampleRate: rate,
                inputChannelCount: channels, outputChannelCount: channels, latency: 0, memory: 0
            ) { $0.deallocate() }
        }
    }

    /// A mixer of this many stereo inputs, each with its own volume.
    public static func mixer(inputs: Int) throws -> AudioEngine {
        let engine = AudioEngine()
        let mixer = AudioMixerNode()
        try engine.edit { edit throws(AudioEngineError) in
            try edit.attach(mixer)
            for bus in 0..<inputs { try edit.connect(engine.inputNode, to: mixer, bus: bus) }
            try edit.connect(mixer, to: engine.outputNode)
        }
        for bus in 0..<inputs { mixer.input(bus).volume = 0.01 * Float(bus + 1) }
        return engine
    }

    /// A voice's path to a file: an equalizer of five bands, a compressor, a reverb and a limiter.
    public static func mastering() throws -> AudioEngine {
        let engine = AudioEngine()
        try engine.edit { edit throws(AudioEngineError) in
            var last: AudioNode = engine.inputNode
            for node in try masteringUnits() {
                try edit.attach(node)
                try edit.connect(last, to: node)
                last = node
            }
            try edit.connect(last, to: engine.outputNode)
        }
        return engine
    }

    /// Returns its units in order.
    public static func masteringUnits() throws(AudioEngineError) -> [AudioUnitEffect] {
        let (equalizer, compressor) = (AudioUnitEffect(.equalizer), AudioUnitEffect(.compressor))
        let bands: [(frequency: Float, q: Float, gain: Float)] = [
            (80, 0.7, 2), (250, 1, -3), (1_200, 1, 1), (3_000, 0.8, 3), (10_000, 0.7, 2),
        ]
        for (n, band) in bands.enumerated() {
            equalizer["band\(n + 2).type"]?.value = 0
            equalizer["band\(n + 2).frequency"]?.value = band.frequency
            equalizer["band\(n + 2).q"]?.value = band.q
            equalizer["band\(n + 2).gain"]?.value = band.gain
        }
        try compressor.loadPreset("voice")
        return [equalizer, compressor, AudioUnitEffect(.reverb), AudioUnitEffect(.limiter)]
    }
}
