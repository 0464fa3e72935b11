// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

/// Renders everything through the executor's callback. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks each call.
@Suite struct EngineRealtimeTests {
    /// A sine without anything that the sanitizer could report.
    private func source(channels: Int = 1, rate: Double = 48_000) -> AudioSourceNode {
        AudioSourceNode(format: AudioFormat(sampleRate: rate, channelCount: channels)) { time, count, output in
            for c in 0..<output.count {
                for i in 0..<count { output[c][i] = sine(Int(time) + i, frequency: 300, rate: 48_000) }
            }
            return count
        }
    }

    @Test func everyNodeRenders() throws {
        let rig = EngineRig()
        let engine = rig.engine
        let mixer = AudioMixerNode(name: "inner")
        let environment = AudioEnvironmentNode()
        let player = AudioPlayerNode(format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        let converter = AudioConverterNode(to: AudioFormat(sampleRate: 16_000, channelCount: 1))
        let effect = AudioEffectNode { _, count, samples in
            for c in 0..<samples.count { for i in 0..<count { samples[c][i] *= 0.5 } }
        }
        let sink = AudioSinkNode { _, _, _ in }
        let tone = source()
        let fast = source(channels: 2, rate: 96_000)
        let generator = AudioUnitEffect(.generator)
        let main = engine.mainMixerNode
        for node in [mixer, environment, player, converter, effect, sink, tone, fast, generator] as [AudioNode] {
            try engine.attach(node)
        }
        let connections: [(AudioNode, AudioNode, Int)] = [
            (engine.inputNode, mixer, 0), (tone, mixer, 1), (fast, mixer, 2), (mixer, effect, 0), (effect, main, 0),
            (player, main, 1), (tone, converter, 0), (converter, main, 2), (tone, environment, 0),
            (player, environment, 1), (environment, main, 3), (generator, main, 4), (effect, sink, 0),
        ]
        for (from, to, bus) in connections { try engine.connect(from, to: to, bus: bus) }
        let heard = Heard()
        try engine.installTap(on: mixer, bufferSize: 512) { _, count, _ in heard.starts.append(count) }
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 4_410)
        player.scheduleBuffer(buffer, frameCount: 4_410, at: 1_000)
        player.scheduleBuffer(buffer, frameCount: 4_410, options: .loops)
        player.play()
        try rig.start(inputs: 2)
        let blocks = [64, 1, 333, 4_096]
        _ = try rig.render(12_000, blocks: blocks) { sine($0, frequency: 200, rate: 48_000) }
        environment.listener = ListenerGeometry(yaw: 90)
        environment.input(0).position = SIMD3(3, 1, -2)
        mixer.input(0).pan = -1
        mixer.input(1).isSoloed = true
        main.input(4).isMuted = true
        player.pause()
        _ = try rig.render(6_000, blocks: blocks) { $0 % 7 == 0 ? .nan : 1e30 }
        player.play()
        _ = try rig.render(6_000, blocks: blocks)
        player.stop()
        let output = try rig.render(6_000, blocks: blocks)
        #expect(output[0].contains { $0 != 0 } && output[0].allSatisfy { $0.isFinite })
        #expect(!heard.starts.isEmpty && engine.inputNode.faultCount > 0)
    }

    @Test(arguments: UnitType.all.compactMap(\.description.component.subtype))
    func everyUnitRendersWithEveryParameterMoving(name: String) throws {
        let rig = EngineRig()
        let unit = AudioUnitEffect(try type(name))
        let tone = source(channels: 2)
        for node in [unit, tone] as [AudioNode] { try rig.engine.attach(node) }
        if unit.numberOfInputs != 0 { try rig.engine.connect(tone, to: unit) }
        try rig.engine.connect(unit, to: rig.engine.mainMixerNode)
        try rig.start()
        _ = try rig.render(1_000, blocks: [64])
        for parameter in unit.parameters {
            let range = parameter.information.range
            parameter.value = range.upperBound
            try parameter.setValue(range.lowerBound, ramp: 0.01, at: rig.engine.sampleTime + 1_000)
            _ = try rig.render(1_600, blocks: [64, 17])
        }
        for preset in unit.unit.presets {
            try unit.loadPreset(preset.name)
            _ = try rig.render(512, blocks: [64])
        }
        for isOn in [true, false, true, false] {
            unit.bypass = isOn
            _ = try rig.render(isOn ? 4_800 : 512, blocks: [64, 1, 700])
        }
        // It falls asleep and wakes up.
        if unit.numberOfInputs != 0 {
            try rig.engine.disconnectNodeInput(unit)
            _ = try rig.render(6_000, blocks: [1_024])
            try rig.engine.connect(tone, to: unit)
        }
        #expect(try rig.render(4_800, blocks: [64])[0].allSatisfy { $0.isFinite })
    }

    @Test func everyKindOfEditIsMadeWhileItRenders() throws {
        let rig = EngineRig()
        let engine = rig.engine
        let main = engine.mainMixerNode
        let tone = source()
        let stereo = source(channels: 2, rate: 44_100)
        let gains = (0..<2).map { AudioUnitEffect(.gain, name: "gain \($0)") }
        let mixer = AudioMixerNode(name: "inner")
        try engine.attach(tone)
        try engine.connect(tone, to: main, bus: 0)
        try rig.start()
        let rest: [AudioNode] = [gains[0], gains[1], stereo, mixer]
        for step in 0..<11 {
            try engine.edit { edit throws(AudioEngineError) in
                switch step {
                case 0: for node in rest { try edit.attach(node) }
                case 1:  // another source beside it, at another rate
                    try edit.connect(stereo, to: main, bus: 1)
                case 2:  // a unit in between
                    try edit.connect(tone, to: gains[0])
                    try edit.connect(gains[0], to: main, bus: 0)
                case 3:  // other channels for a unit
                    try edit.connect(stereo, to: gains[0])
                case 4:  // two in turn
                    try edit.connect(gains[0], to: gains[1])
                    try edit.connect(gains[1], to: main, bus: 0)
                case 5:  // and in the other order
                    try edit.disconnectNodeInput(gains[1])
                    try edit.connect(stereo, to: gains[1])
                    try edit.connect(gains[1], to: gains[0])
                    try edit.connect(gains[0], to: main, bus: 0)
                case 6:  // a mixer before the output's
                    try edit.connect(tone, to: mixer, bus: 0)
                    try edit.connect(gains[0], to: mixer, bus: 1)
                    try edit.connect(mixer, to: main, bus: 0)
                case 7: try edit.disconnectNodeOutput(stereo)
                case 8: try edit.disconnectNodeInput(main, bus: 1)
                case 9: for node in rest { try edit.detach(node) }
                default: try edit.connect(tone, to: main, bus: 0)
                }
            }
            _ = try rig.render(3_000, blocks: [64, 5, 700])
        }
        try engine.installTap(on: tone) { _, _, _ in }
        _ = try rig.render(3_000, blocks: [64])
        engine.removeTap(from: tone)
        let output = try rig.render(4_800, blocks: [64])
        let start = Int(engine.sampleTime) + 64 - 4_800
        let expected = (0..<4_800).map { sine(start + $0, frequency: 300, rate: 48_000) }
        #expect(errorDecibels(expected, output[0]) < -110)
    }
}
