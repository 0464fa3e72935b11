// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotDiagnostics

@Suite struct LoopbackTests {
    private static let rate = 48_000.0
    private static func tone(_ n: Int) -> Float { n < 0 ? 0 : sine(n, frequency: 440, rate: rate, amplitude: 0.5) }

    @Test(arguments: [16, 470, 4096]) func `the microphone is heard after exactly the stated delay`(
        block: Int
    ) throws {
        let rig = try LoopRig(rate: Self.rate, block: block)
        rig.air = Self.tone
        rig.run(9_600)
        rig.loopback.extraDelayFrameCount = 333
        rig.run(19_200)
        let stated = try #require(rig.loopback.statedDelay)
        #expect(abs(stated.total - Double(2 * block + 333) / Self.rate) < 1e-9)
        // Frame n of the output leaves the converter two blocks after frame n of the input was captured.
        let end = rig.played.count
        for n in end - 4_800..<end { #expect(abs(rig.played[n] - Self.tone(n - 333)) < 1e-6) }
    }

    @Test(arguments: [16, 256, 470, 4096]) func `delay and gain changes do not click`(block: Int) throws {
        let rig = try LoopRig(rate: Self.rate, block: block)
        rig.air = Self.tone
        rig.run(110_000)  // the longest delay looks back on the tone
        let start = rig.played.count
        for (delay, gain) in [(480, 1), (96_000, 0.5), (0, 0.5), (17, 0), (17, 1), (96_000_000, 1.0), (-5, 0.7)] {
            rig.loopback.extraDelayFrameCount = delay
            rig.loopback.gain = Float(gain)
            rig.run(200)  // a second change while the first is under way
            rig.loopback.extraDelayFrameCount = delay / 2
            rig.run(9_600)
        }
        let played = Array(rig.played[start...])
        #expect(sineDefect(played, frequency: 440, rate: Self.rate) < -65)
        #expect(abs((played.suffix(2_000).map(\.magnitude).max() ?? 0) - 0.35) < 0.01)
    }

    @Test func `the click measurement detects a click of −40 dB`() {
        var samples = (0..<4_800).map(Self.tone)
        samples[2_000] += 0.005
        #expect(sineDefect(samples, frequency: 440, rate: Self.rate) > -45)
    }

    @Test func `a probe fades the sound out and back in afterwards`() throws {
        let rig = try LoopRig(rate: Self.rate, block: 64, maximumRoundTrip: 0.1)
        rig.air = Self.tone
        rig.run(9_600)
        let start = rig.played.count
        _ = try rig.probe()
        rig.run(4_800)
        let played = rig.played[start...]
        let silence = played.firstIndex { $0 == 0 }.map { $0 - start } ?? 0
        #expect(silence < 1_100 && played.dropFirst(silence).dropFirst().prefix(6_000).allSatisfy { $0 == 0 })
        let probe = played.dropFirst(Int(0.15 * Self.rate)).prefix(Int(0.2 * Self.rate))
        #expect(abs((probe.map(\.magnitude).max() ?? 0) - 0.1) < 0.002)
        #expect(abs((played.suffix(1_000).map(\.magnitude).max() ?? 0) - 0.5) < 0.001)
    }

    @Test(arguments: [(10, 1.5), (480, 1.2), (4_800, 2), (0, 8)])
    func `a howling loop is attenuated, and the howl is reported`(
        delay: Int, gain: Double
    ) throws {
        let rig = try LoopRig(rate: Self.rate, block: 64)
        rig.path = Path.delay(delay, gain: Float(gain))
        rig.air = { $0 < 480 ? 0.01 * Self.tone($0) : 0 }
        rig.run(seconds: 8)
        #expect(rig.loopback.howlCount >= 1 && rig.loopback.howlReduction < 0.3)
        #expect(rig.played.allSatisfy { $0.magnitude <= 1 })
        #expect((rig.played.suffix(4_800).map(\.magnitude).max() ?? 1) < 0.1)
        let before = rig.loopback.howlCount
        rig.path = nil
        rig.loopback.gain = 1  // closes nothing now: full gain is back
        rig.air = Self.tone
        rig.run(seconds: 0.5)
        #expect(rig.loopback.howlReduction == 1 && rig.loopback.howlCount == before)
        #expect(abs((rig.played.suffix(1_000).map(\.magnitude).max() ?? 0) - 0.5) < 0.001)
    }

    @Test func `loud speech is not detected as howling`() throws {
        let rig = try LoopRig(rate: Self.rate, block: 128)
        let speech = Voice(seed: 9).recorded(5, rate: Self.rate, at: HostTime(nanoseconds: 0)).samples
        let loudest = speech.map(\.magnitude).max() ?? 1
        rig.air = { speech[$0 % speech.count] / loudest }
        rig.run(seconds: 5)
        #expect(rig.loopback.howlCount == 0)
    }

    @Test func `levels are reported, and NaN and infinite samples are removed`() throws {
        let rig = try LoopRig(rate: Self.rate, block: 64)
        #expect(rig.loopback.statedDelay == nil)
        rig.air = { $0 % 100 == 3 ? .nan : $0 % 100 == 5 ? .infinity : Self.tone($0) }
        rig.run(9_600)
        let levels = rig.loopback.currentLevels
        #expect(abs(levels.inputPeak - 0.5) < 0.02 && abs(levels.outputPeak - 0.5) < 0.02)
        #expect(levels.frameCount == 64 && levels.inputLatency == 64 / Self.rate)
        #expect(rig.played.allSatisfy { $0.isFinite })
    }

    @Test(arguments: [(1, 2), (2, 1), (3, 2), (2, 4), (1, 0)]) func `each input channel is heard`(
        inputs: Int, outputs: Int
    ) {
        let loopback = Loopback(sampleRate: Self.rate, inputChannelCount: inputs)
        let input = AudioBuffer(channelCount: inputs, frameCapacity: 960)
        let output = AudioBuffer(channelCount: max(1, outputs), frameCapacity: 960)
        for c in 0..<inputs { for i in 0..<960 { input.channels[c][i] = 0.1 * Float(c + 1) } }
        for call in 0..<3 {
            for c in 0..<outputs { clearSamples(output.channels[c], 960) }
            var cycle = IOCycle(
                frameCount: 960, sampleTime: Int64(960 * call), hostTime: HostTime(nanoseconds: 0), inputLatency: 0,
                outputLatency: 0, input: input.channels, output: Channels(output.channels.pointers, count: outputs))
            loopback.callback(&cycle)
        }
        let heard = (0..<outputs).map { (output.channels[$0][900] * 10).rounded() }
        let expected: [String: [Float]] = [
            "1 2": [1, 1], "2 1": [3], "3 2": [4, 2], "2 4": [1, 2, 0, 0], "1 0": [],
        ]
        #expect(heard == expected["\(inputs) \(outputs)"])
    }
}
