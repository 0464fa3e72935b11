// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct ScheduledParameterTests {
    private func rig() throws -> (EngineRig, AudioMixerInput) {
        let rig = EngineRig(channels: 1)
        let one = AudioSourceNode(format: rig.format) { _, count, output in
            for i in 0..<count { output[0][i] = 0.5 }
            return count
        }
        try rig.engine.attach(one)
        try rig.engine.connect(one, to: rig.engine.mainMixerNode)
        return (rig, rig.engine.mainMixerNode.input(0))
    }

    @Test func `a change scheduled before the start waits for its time`() throws {
        let (rig, input) = try rig()
        input.volume = 0.5
        try #require(input["volume"]).setValue(1, ramp: 0.01, at: 4_800)
        #expect(input["loudness"] == nil)
        try rig.start()
        let output = try rig.render(9_600)[0]
        #expect(output[..<4_800].allSatisfy { $0 == 0.25 })
        #expect(output[5_300...].allSatisfy { $0 == 0.5 })
    }

    @Test func `an immediate value overrides an earlier scheduled one`() throws {
        let (rig, input) = try rig()
        try rig.start()
        try #require(input["volume"]).setValue(0, ramp: 0, at: 1_000)
        var output = try rig.render(4_800)[0]
        #expect(output[999] == 0.5 && output[1_100...].allSatisfy { $0 == 0 })
        input.volume = 1  // as it was before the schedule
        output = try rig.render(4_800)[0]
        #expect(output[4_799] == 0.5)
    }

    @Test func `a pending change survives a rebuild of the node's state`() throws {
        let rig = EngineRig(channels: 1)
        let sources = (1...2).map { channels in
            AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: channels)) { _, count, output in
                for c in 0..<output.count { for i in 0..<count { output[c][i] = 0.5 } }
                return count
            }
        }
        let gain = AudioUnitEffect(.gain)
        for node in sources + [gain] as [AudioNode] { try rig.engine.attach(node) }
        try rig.engine.connect(sources[0], to: gain)
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode)
        try rig.start()
        try #require(gain["gain"]).setValue(-60, ramp: 0, at: 10_000)
        var output = try rig.render(1_000)[0]
        try rig.engine.connect(sources[1], to: gain)
        output += try rig.render(11_000)[0]
        #expect(output[5_000..<10_000].allSatisfy { $0 == 0.5 })
        #expect(output[10_100...].allSatisfy { abs($0) < 0.001 })
    }

    @Test func `a pending change survives an engine restart`() throws {
        let (rig, input) = try rig()
        try rig.start()
        try #require(input["volume"]).setValue(0, ramp: 0, at: 3_000)
        _ = try rig.render(1_000)
        rig.engine.stop()
        try rig.start()
        let output = try rig.render(4_000)[0]
        #expect(output[..<3_000].allSatisfy { $0 == 0.5 })
        #expect(output[3_100...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: [Float(0.2), 1])
    func `the last immediate change wins`(last: Float) throws {
        let (rig, input) = try rig()
        let volume = try #require(input["volume"])
        try rig.start()
        _ = try rig.render(1_000)
        try volume.setValue(0.5, ramp: 0.1)
        volume.value = last
        #expect(abs(try rig.render(9_600)[0][9_599] - 0.5 * last) < 1e-6)
        // And in the opposite order.
        volume.value = 0.7
        try volume.setValue(0.5, ramp: 0.01)
        #expect(abs(try rig.render(9_600)[0][9_599] - 0.25) < 1e-6)
    }

    @Test func `a preset overrides immediate changes made before it`() throws {
        let store = ParameterStore([UnitParameter("x", "X", .generic, 0...1, default: 0)])
        var ramps = ParameterRamps(store, sampleRate: 48_000, engineRate: 48_000)
        ramps.rendered(1)
        #expect(store.schedule(0, to: 1, rampSeconds: 0.01, at: .min))
        store.set([0: 0])
        ramps.takeChanges(1)
        let isAtRest = ramps.isAtRest(until: .max)
        #expect(isAtRest)
    }

    @Test(arguments: [Double.infinity, 1e30, -1, .nan])
    func `unbounded ramps and times are clamped`(ramp: Double) throws {
        let rig = EngineRig(channels: 1)
        let slow = AudioFormat(sampleRate: 8_000, channelCount: 1)
        let gain = AudioUnitEffect(.gain)
        let player = AudioPlayerNode(format: AudioFormat(sampleRate: 192_000, channelCount: 1))
        for node in [gain, player] as [AudioNode] { try rig.engine.attach(node) }
        let converter = AudioConverterNode(to: slow)
        try rig.engine.attach(converter)
        try rig.engine.connect(player, to: converter)
        try rig.engine.connect(converter, to: gain)
        try rig.engine.connect(gain, to: rig.engine.mainMixerNode)
        try rig.start()
        let level = try #require(gain["gain"])
        try level.setValue(-6, ramp: ramp)
        for time in [Int64.max, .min, .max - 1, .min + 1] { try level.setValue(-3, ramp: ramp, at: time) }
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 64)
        player.play()
        for time in [Int64.min + 1, .max] { player.scheduleBuffer(buffer, frameCount: 64, at: time) }
        _ = try rig.render(1_000)
        player.play(at: .max)
        player.play(at: .min)
        player.play(at: .min + 1)
        player.play(at: .max)
        #expect(try rig.render(1_000)[0].allSatisfy { $0.isFinite })
    }

    @Test func `a value reached by schedule survives an engine restart`() throws {
        let (rig, input) = try rig()
        try rig.start()
        try #require(input["volume"]).setValue(0.25, ramp: 0, at: 1_000)
        _ = try rig.render(4_800)
        rig.engine.stop()
        try rig.start()
        #expect(try rig.render(100)[0].allSatisfy { $0 == 0.125 })
    }
}
