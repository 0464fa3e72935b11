// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioEngine

@Suite struct AudioEngineTests {
    @Test(arguments: [[256], [1], [64], [7, 4096, 1, 333], [8_192]])
    func `blocks of any length give the same samples`(blocks: [Int]) throws {
        func run(_ blocks: [Int]) throws -> [[Float]] {
            let rig = EngineRig()
            let gain = AudioUnitEffect(.gain)
            let slow = sineSource(440, rate: 44_100, name: "slow")
            let fast = sineSource(1_000, rate: 48_000, channels: 2, name: "fast")
            for node in [gain, slow, fast] { try rig.engine.attach(node) }
            try rig.engine.connect(slow, to: gain)
            try rig.engine.connect(gain, to: rig.engine.mainMixerNode)
            try rig.engine.connect(fast, to: rig.engine.mainMixerNode)
            try rig.start()
            try gain.parameter("gain").setValue(-20, ramp: 0.05, at: 1_001)
            try rig.engine.mainMixerNode.input(1).parameters[1].setValue(-1, ramp: 0.01, at: 3_000)
            return try rig.render(20_000, blocks: blocks)
        }
        let expected = try run([256])
        let got = try run(blocks)
        for c in 0..<2 { #expect(errorDecibels(expected[c], got[c]) < -120) }
    }

    @Test func `a parameter change due during silence is complete when sound returns`() throws {
        func run(silent frames: Int64) throws -> [Float] {
            let rig = EngineRig(channels: 1)
            let source = AudioSourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1)) {
                time, count, output in
                for i in 0..<count { output[0][i] = time + Int64(i) < frames ? 0 : 0.5 }
                return count
            }
            let gain = AudioUnitEffect(.gain)
            for node in [source, gain] { try rig.engine.attach(node) }
            try rig.engine.connect(source, to: gain)
            try rig.engine.connect(gain, to: rig.engine.mainMixerNode)
            try rig.start()
            try gain.parameter("gain").setValue(-40, ramp: 0.5, at: 4_800)
            return try rig.render(36_000)[0]
        }
        let sounding = try run(silent: 0)
        let late = try run(silent: 14_400)
        #expect(errorDecibels(Array(sounding[16_000...]), Array(late[16_000...])) < -80)
    }

    @Test func `a source at another rate is converted`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(1_000, rate: 44_100)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(48_000)[0]
        #expect(sineDefect(Array(output[4_000...]), frequency: 1_000, rate: 48_000) < -60)
        #expect(abs(decibels(Double(output[4_000...].max() ?? 0) / 0.5)) < 0.01)
    }

    @Test func `graph edits during playback do not click`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(200, amplitude: 0.5)
        let gains = (0..<3).map { AudioUnitEffect(.gain, name: "gain \($0)") }
        let mixer = rig.engine.mainMixerNode
        try rig.engine.attach(source)
        for gain in gains { try rig.engine.attach(gain) }
        try rig.engine.connect(source, to: mixer, bus: 0)
        try rig.start()
        var output = try rig.render(4_800)[0]
        func after(_ change: () throws -> Void) throws {
            try change()
            let piece = try rig.render(4_800, blocks: [64])[0]
            #expect(clickLevel(Array(output.suffix(4_800)) + piece) < -60)
            output += piece
        }
        try after {  // an effect put in between
            try rig.engine.edit { edit throws(AudioEngineError) in
                try edit.connect(source, to: gains[0])
                try edit.connect(gains[0], to: mixer, bus: 0)
            }
        }
        try after {
            try rig.engine.edit { edit throws(AudioEngineError) in
                try edit.connect(source, to: gains[1])
                try edit.connect(gains[1], to: gains[0])
            }
        }
        try after {  // the two change places, which closes a ring in between
            try rig.engine.edit { edit throws(AudioEngineError) in
                try edit.disconnectNodeInput(gains[1])
                try edit.connect(source, to: gains[0])
                try edit.connect(gains[0], to: gains[1])
                try edit.connect(gains[1], to: mixer, bus: 0)
            }
        }
        try after { gains[0]["gain"]?.value = -12 }
        try after { mixer.input(0).isMuted = true }
        try after { mixer.input(0).isMuted = false }
        try after { mixer.input(0).pan = 0.5 }
        try after { try rig.engine.detach(gains[0]) }
        try after { try rig.engine.connect(source, to: mixer, bus: 0) }
        try after { try rig.engine.disconnectNodeInput(mixer) }
        // A click exceeds what the sine and its fades have above 2 kHz.
        #expect(output.suffix(2_000).allSatisfy { $0 == 0 })
    }

    @Test func `errors name the nodes involved`() throws {
        let rig = EngineRig()
        let a = AudioUnitEffect(.gain, name: "a")
        let b = AudioUnitEffect(.gain, name: "b")
        try rig.engine.attach(a)
        #expect(throws: AudioEngineError.notAttached("b")) { try rig.engine.connect(a, to: b) }
        try rig.engine.attach(b)
        try rig.engine.connect(a, to: b)
        #expect(throws: AudioEngineError.cycle(["a", "b", "a"])) { try rig.engine.connect(b, to: a) }
        try rig.engine.connect(b, to: rig.engine.mainMixerNode)
        #expect(throws: AudioEngineError.unconnected(["a"])) { try rig.start() }
        #expect(throws: AudioEngineError.permanent("output")) { try rig.engine.detach(rig.engine.outputNode) }
        #expect(throws: AudioEngineError.noInput("input")) { try rig.engine.connect(a, to: rig.engine.inputNode) }
        #expect(throws: AudioEngineError.noOutput("output")) { try rig.engine.connect(rig.engine.outputNode, to: a) }
        #expect(throws: AudioEngineError.noSuchBus(node: "a", bus: 1, count: 1)) {
            try rig.engine.connect(b, to: a, bus: 1)
        }
        let other = AudioEngine()
        #expect(throws: AudioEngineError.attachedElsewhere("a")) { try other.attach(a) }
    }

    @Test(.realTime) func `a device that fails to start leaves the engine unchanged`() throws {
        let engine = AudioEngine()
        let source = sineSource(440)
        try engine.attach(source)
        try engine.connect(source, to: engine.mainMixerNode)
        let card = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 256)
        let taken = try SimulatedDevice(card)
        try taken.start(RenderCallback(context: nil) { _, _ in })
        defer { taken.stop() }
        #expect(throws: AudioEngineError.device(.alreadyRunning)) { try engine.start(on: taken) }
        #expect(!engine.isRunning && engine.sampleRate == nil)
        try engine.start(on: try SimulatedDevice(card))
        #expect(engine.isRunning && engine.sampleRate == 48_000)
        engine.stop()
    }

    @Test func `a tap receives every frame exactly once`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(300)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        let heard = Heard()
        try rig.engine.installTap(on: source, bufferSize: 500) { samples, count, time in
            heard.add(UnsafeBufferPointer(start: samples[0], count: count), Int(time))
        }
        try rig.start()
        _ = try rig.render(10_000, blocks: [333, 64, 1_024])
        rig.engine.flushTaps()
        let expected = (0..<10_000).map { sine($0, frequency: 300, rate: 48_000) }
        #expect(heard.samples == expected)
        #expect(heard.starts == Array(stride(from: 0, to: 10_000, by: 500)))
    }

    @Test func `a sink receives the same samples as the output, complete and on time`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(300)
        let heard = Heard()
        let sink = AudioSinkNode { time, count, input in
            heard.add(UnsafeBufferPointer(start: input[0], count: count), Int(time))
        }
        for node in [source, sink] as [AudioNode] { try rig.engine.attach(node) }
        try rig.engine.connect(source, to: sink)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(5_000, blocks: [64, 1, 700])[0]
        #expect(heard.samples == output && output.contains { $0 > 0.4 })
        #expect(heard.starts.first == 0 && heard.starts == heard.starts.sorted())
    }

    @Test func `the frame count of a tap restarts with the engine`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(500)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        let heard = Heard()
        try rig.engine.installTap(on: source, bufferSize: 480) { samples, count, time in
            heard.add(UnsafeBufferPointer(start: samples[0], count: count), Int(time))
        }
        for _ in 0..<2 {
            try rig.start()
            _ = try rig.render(4_800, blocks: [480])
            rig.engine.stop()
        }
        #expect(heard.starts == (0..<10).map { 480 * $0 } + (0..<10).map { 480 * $0 })
    }

    @Test func `missing and invalid samples from a render block become silence and are counted`() throws {
        let rig = EngineRig(channels: 1)
        let source = AudioSourceNode(name: "bad") { time, count, output in
            for i in 0..<count { output[0][i] = i % 7 == 0 ? .nan : i % 5 == 0 ? .infinity : 0.1 }
            return count - 3
        }
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(2_560)[0]
        #expect(output.allSatisfy { $0 == 0 || abs($0 - 0.1) < 1e-6 })
        #expect(source.faults.missingFrames == 30)
        #expect(source.faults.invalidSamples > 100)
    }
}

final class Heard: @unchecked Sendable {
    var samples: [Float] = []
    var starts: [Int] = []
    func add(_ block: UnsafeBufferPointer<Float>, _ start: Int) {
        samples += block
        starts.append(start)
    }
}

/// Returns the loudest click in dBFS; see ``ClickMeter``.
func clickLevel(_ samples: [Float], rate: Double = 48_000) -> Double {
    var meter = ClickMeter(rate: rate)
    for sample in samples { meter.add(sample) }
    return meter.level
}
