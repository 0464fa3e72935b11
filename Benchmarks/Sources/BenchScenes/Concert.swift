// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioEngine

/// Sixteen stereo channels, each with a gate, an equalizer, a compressor and a gain, in four groups with an equalizer and a
/// compressor; a reverb and a delay to which all send; four monitors with an equalizer, a limiter and a meter; a microphone with
/// the same chain; four sources around the listener; and a mastering chain.
public struct Concert {
    /// The engine with the graph, not started.
    public let engine = AudioEngine()

    /// Builds the graph.
    public init() throws {
        let engine = engine
        try engine.edit { edit throws(AudioEngineError) in
            let groups = (0..<4).map { AudioMixerNode(name: "group \($0)") }
            let sends = (0..<2).map { AudioMixerNode(name: "send \($0)") }
            let monitors = (0..<4).map { AudioMixerNode(name: "monitor \($0)") }
            for mixer in groups + sends + monitors { try edit.attach(mixer) }
            for number in 0..<16 {
                let last = try Self.chain(&edit, Graphs.tone(number), [.gate, .equalizer, .compressor, .gain])
                for mixer in [groups[number / 4]] + sends + monitors { try edit.connect(last, to: mixer) }
            }
            for group in groups {
                try edit.connect(
                    try Self.chain(&edit, group, [.equalizer, .compressor]), to: engine.mainMixerNode)
            }
            for (send, unit) in zip(sends, [UnitType.reverb, .delay]) {
                try edit.connect(try Self.chain(&edit, send, [unit]), to: engine.mainMixerNode)
            }
            for monitor in monitors {
                let sink = AudioSinkNode { _, _, _ in }
                try edit.attach(sink)
                try edit.connect(try Self.chain(&edit, monitor, [.equalizer, .limiter]), to: sink)
            }
            try edit.connect(
                try Self.chain(&edit, engine.inputNode, [.gate, .equalizer, .compressor]), to: engine.mainMixerNode)
            let around = AudioEnvironmentNode()
            try edit.attach(around)
            for bus in 0..<4 {
                around.input(bus).position = SIMD3(Float(bus) - 1.5, 0, -1)
                try edit.connect(
                    try Self.chain(&edit, Graphs.tone(20 + bus), bus < 2 ? [.gain] : []), to: around, bus: bus)
            }
            try edit.connect(around, to: engine.mainMixerNode)
            try edit.connect(
                try Self.chain(&edit, engine.mainMixerNode, [.equalizer, .compressor, .limiter]),
                to: engine.outputNode)
        }
    }

    /// Connects units in a row after a node; returns the last.
    private static func chain(
        _ edit: inout AudioEngine.Edit, _ first: AudioNode, _ units: [UnitType]
    ) throws(AudioEngineError) -> AudioNode {
        try edit.attach(first)
        var last = first
        for unit in units {
            let effect = AudioUnitEffect(unit)
            if unit.description.presets.contains(where: { $0.name == "voice" }) { try effect.loadPreset("voice") }
            try edit.attach(effect)
            try edit.connect(last, to: effect)
            last = effect
        }
        return last
    }
}
