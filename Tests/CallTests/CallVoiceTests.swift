// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotSimulation
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Tests the processing of the local voice in complete calls on virtual time.
@Suite(.optimized) struct CallVoiceTests {
    /// Gives the host's voice effects, and returns their delay in seconds.
    @discardableResult private func setEffects(_ effects: [AudioUnitEffect], of rig: CallSimulation) throws -> Double {
        let configuration = rig.peers[0].configuration
        let format = AudioFormat(sampleRate: configuration.deviceRate, channelCount: configuration.channelCount)
        let chain = try EffectChain(effects, format: format)
        let insert = CallInsert(latency: chain.latency, callback: chain.callback, owner: chain)
        rig.peers[0].processor.effects.set(insert)
        return chain.latency
    }

    private func processing(_ configuration: CallConfiguration) throws -> CallVoice? {
        CallVoice(
            canProcess: true, sampleRate: configuration.deviceRate, blockFrameCount: configuration.deviceBlock)
    }

    private func read(_ path: String) throws -> [Float] {
        let reader = try AudioFileReader(path: path)
        let buffer = AudioBuffer(
            channelCount: reader.processingFormat.channelCount, frameCapacity: max(1, reader.frameCount))
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        return Array(UnsafeBufferPointer(start: buffer.channels[0], count: count))
    }

    private func level(_ samples: [Float]) -> Double {
        decibels((samples.reduce(0.0) { $0 + Double($1 * $1) } / Double(max(1, samples.count))).squareRoot())
    }

    /// Returns the level of one frequency by correlation.
    private func level(_ samples: [Float], at frequency: Double, rate: Double = 48_000) -> Double {
        var (x, y) = (0.0, 0.0)
        for (n, sample) in samples.enumerated() {
            let window = 0.5 - 0.5 * cos(2 * .pi * Double(n) / Double(samples.count))
            let angle = 2 * .pi * frequency * Double(n) / rate
            x += Double(sample) * window * cos(angle)
            y += Double(sample) * window * sin(angle)
        }
        return decibels(4 * (x * x + y * y).squareRoot() / Double(samples.count))
    }

    @Test(arguments: [1, 2])
    func `a -6 dB effect is heard by the remote peer, while the meter shows the original level`(
        channels: Int
    ) throws {
        let setup = CallSetup(channelCount: channels)
        var plain = try CallSimulation(setup)
        try plain.run(until: 3)
        var rig = try CallSimulation(setup)
        let gain = AudioUnitEffect(.gain)
        gain["gain"]?.value = -6
        let latency = try setEffects([gain], of: rig)
        try rig.run(until: 3)
        for c in 0..<channels {
            let before = level(plain.peers[1].heard(1..<3, channel: c).samples)
            let after = level(rig.peers[1].heard(1..<3, channel: c).samples)
            #expect(abs(after - before + 6) < 0.01, "\(after - before) dB")
        }
        #expect(latency == 0)
        let levels = rig.peers[0].processor.levels
        #expect(levels.spokenPeak == plain.peers[0].processor.levels.spokenPeak)
        // The guest's voice is sent unchanged.
        #expect(rig.peers[0].heard == plain.peers[0].heard)
    }

    @Test func `a voice raised by an octave contains only the octave's harmonics`() throws {
        var setup = CallSetup()
        let harmonics = { (frame: Int, channel: Int) -> Float in
            (1...8).reduce(0) {
                $0 + sine(frame, frequency: 200 * Double($1), rate: 48_000, amplitude: 0.3 / Double($1))
            }
        }
        setup.says = harmonics
        var rig = try CallSimulation(setup)
        let changer = AudioUnitEffect(.voiceChanger)
        changer["pitch"]?.value = 12
        try setEffects([changer], of: rig)
        try rig.run(until: 4)
        let heard = rig.peers[1].heard(2..<4).samples
        for even in [400.0, 800, 1200] {
            let left = max(level(heard, at: even - 200), level(heard, at: even + 200))
            #expect(level(heard, at: even) > left + 20, "\(even) Hz: \(level(heard, at: even)), beside it \(left)")
        }
        let (spoken, other) = (rig.peers[0].heard(2..<4).samples, 200.0)
        #expect(level(spoken, at: other) > level(heard, at: other) + 20, "the guest's own voice is not changed")
    }

    @Test func `effects increase the delay by their reported latency, also after a gap`() throws {
        func delays(_ effects: [AudioUnitEffect]) throws -> (before: Double, after: Double, stated: Double) {
            var setup = CallSetup()
            setup.says = { frame, _ in speechLikeNoise(frame) }
            setup.longestSkip = 0.3
            var rig = try CallSimulation(setup)
            let stated = effects.isEmpty ? 0 : try setEffects(effects, of: rig)
            rig.events = [(4, { $0.peers[0].skipCycles(for: 0.3) })]
            try rig.run(until: 9)
            return (
                try rig.mouthToEar(from: 0, 2..<3.5).milliseconds, try rig.mouthToEar(from: 0, 6..<8).milliseconds,
                stated * 1e3
            )
        }
        let plain = try delays([])
        let limiter = AudioUnitEffect(.limiter)
        limiter["ceiling"]?.value = 0
        let changed = try delays([AudioUnitEffect(.gain), limiter])
        #expect(changed.stated > 0.5)
        #expect(abs(changed.before - plain.before - changed.stated) < 0.02, "\(changed), \(plain)")
        #expect(abs(changed.after - plain.after - changed.stated) < 0.02, "\(changed), \(plain)")
    }

    /// The host talks; the guest is silent in a room that returns the sound of its loudspeaker.
    private func echoRig(_ voice: @escaping CallSetup.VoiceMaker, guestSays: @escaping CallSetup.Sound) throws
        -> CallSimulation
    {
        var setup = CallSetup()
        setup.says = { frame, _ in speechLikeNoise(frame) }
        setup.guestSays = guestSays
        setup.voices.1 = voice
        let rig = try CallSimulation(setup)
        rig.peers[1].echo = (0..<12).map { tap in
            let size = 0.4 * Float(pow(0.75, Double(tap)))
            return (frames: 700 + 97 * tap * tap / 4, gain: tap % 3 == 1 ? -size : size)
        }
        return rig
    }

    @Test func `voice processing reduces an echo by at least 20 dB after two seconds`() throws {
        var plain = try echoRig({ _ in nil }, guestSays: { _, _ in 0 })
        try plain.run(until: 6)
        var rig = try echoRig(processing, guestSays: { _, _ in 0 })
        rig.peers[1].voice?.setProcessing(true)
        try rig.run(until: 6)
        let (before, after) = (level(plain.peers[0].heard(3..<6).samples), level(rig.peers[0].heard(3..<6).samples))
        #expect(before > -40, "there is an echo")
        #expect(before - after >= 20, "\(before) dB, then \(after)")
        let voice = try #require(rig.peers[1].voice)
        #expect(voice.processing == .on && voice.lateFrameCount == 0)
        #expect((voice.statistics?.enhancement ?? 0) >= 20, "\(voice.statistics as Any)")
        // The guest's output is unchanged.
        #expect(rig.peers[1].heard == plain.peers[1].heard)
    }

    @Test func `voice processing turns on and off without a click, and adds its reported latency`() throws {
        let speech = try ["Front_Center", "Rear_Left", "Side_Right", "Front_Left", "Rear_Right"].flatMap {
            try read("/usr/share/sounds/alsa/\($0).wav")
        }
        let says: CallSetup.Sound = { frame, _ in speech[frame % speech.count] }
        func rig(_ isOn: Bool) throws -> CallSimulation {
            var setup = CallSetup()
            setup.says = says
            setup.guestSays = { _, _ in 0 }
            setup.voices.0 = processing
            var rig = try CallSimulation(setup)
            if isOn {
                rig.events = [
                    (2, { $0.peers[0].voice?.setProcessing(true) }), (6, { $0.peers[0].voice?.setProcessing(false) }),
                ]
            }
            try rig.run(until: 9)
            return rig
        }
        let (plain, switched) = (try rig(false), try rig(true))
        func steepest(_ samples: [Float]) -> Float {
            zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
        }
        let heard = switched.peers[1].heard(1..<8.5).samples
        #expect(steepest(heard) < 1.1 * steepest(plain.peers[1].heard(1..<8.5).samples))
        // Playout reduces its buffer at the start, so each part is compared with the same part of the plain call.
        func added(_ seconds: Range<Double>) throws -> Double {
            try switched.mouthToEar(from: 0, seconds).milliseconds - plain.mouthToEar(from: 0, seconds).milliseconds
        }
        let stated = (switched.peers[0].voice?.processingLatency ?? 0) * 1e3
        #expect(stated > 10)
        #expect(abs(try added(3..<5.5) - stated) < 0.3, "stated \(stated)")
        #expect(abs(try added(7..<8.5)) < 0.02)
    }

    @Test func `voice processing that delivers too late is bypassed, and the voice continues unprocessed`() throws {
        var setup = CallSetup()
        setup.says = { frame, _ in speechLikeNoise(frame) }
        setup.guestSays = { _, _ in 0 }
        setup.voices.0 = processing
        var rig = try CallSimulation(setup)
        var plain = try CallSimulation(CallSetup(says: setup.says, guestSays: setup.guestSays))
        rig.peers[0].voice?.setProcessing(true)
        // The thread runs for a moment every half second.
        rig.peers[0].voiceStalls = (0..<20).map { 1 + 0.5 * Double($0)..<(1.48 + 0.5 * Double($0)) }
        try rig.run(until: 12)
        try plain.run(until: 12)
        let voice = try #require(rig.peers[0].voice)
        guard case .left(let error) = voice.processing else {
            Issue.record("it is \(voice.processing), \(voice.lateFrameCount) frames late")
            return
        }
        #expect("\(error)".contains("too late") && "\(error)".contains("continues unprocessed"))
        let (heard, want) = (rig.peers[1].heard(10..<12).samples, plain.peers[1].heard(10..<12).samples)
        #expect(abs(level(heard) - level(want)) < 0.1, "\(level(heard)) dB, plain \(level(want))")
        let delays = (
            try rig.mouthToEar(from: 0, 10..<11.5).milliseconds, try plain.mouthToEar(from: 0, 10..<11.5).milliseconds
        )
        #expect(abs(delays.0 - delays.1) < 0.02, "\(delays)")
    }

    @Test func `voice processing with repeating output is bypassed, and the voice continues unprocessed`() throws {
        var setup = CallSetup()
        // With all parts off the output is the input: 10 ms, repeated.
        setup.says = { frame, _ in sine(frame % 480, frequency: 300, rate: 48_000, amplitude: 0.2) }
        setup.guestSays = { _, _ in 0 }
        setup.voices.0 = { configuration in
            CallVoice(
                canProcess: true, options: .off, sampleRate: configuration.deviceRate,
                blockFrameCount: configuration.deviceBlock)
        }
        var rig = try CallSimulation(setup)
        rig.peers[0].voice?.setProcessing(true)
        try rig.run(until: 4)
        #expect(rig.peers[0].voice?.processing == .on)
        try rig.run(until: 8)
        #expect(rig.peers[0].voice?.processing == .left(.left(.stuck(seconds: 5))))
        let heard = rig.peers[1].heard(1..<8).samples
        // The change has no click: its slope is the sine's plus the crossfade's.
        let steepest = zip(heard, heard.dropFirst()).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
        #expect(steepest < 0.012)
        let after = level(rig.peers[1].heard(7..<8).samples)
        #expect(abs(after + 16.99) < 0.1, "\(after) dB")
    }

    @Test func `NaN samples from a device do not persist in voice processing`() throws {
        var setup = CallSetup()
        setup.says = { frame, _ in (144_000..<144_064).contains(frame) ? .nan : speechLikeNoise(frame) }
        setup.guestSays = { _, _ in 0 }
        setup.voices.0 = processing
        var rig = try CallSimulation(setup)
        rig.peers[0].voice?.setProcessing(true)
        try rig.run(until: 6)
        let heard = rig.peers[1].heard(1..<6).samples
        #expect(heard.allSatisfy { abs($0) <= 1 })
        #expect(level(rig.peers[1].heard(4..<6).samples) > level(rig.peers[1].heard(1..<3).samples) - 6)
    }

    @Test func `the last processed output fades into the unprocessed microphone without a click`() throws {
        let voice = try #require(try processing(CallSimulation.negotiate(CallSetup()).host))
        let worker = try #require(voice.worker)
        var heard: [Float] = []
        for block in 0..<600 {
            var input = (0..<256).map { sine(block * 256 + $0, frequency: 220, rate: 48_000) }
            var reference = [Float](repeating: 0, count: 256)
            var output = reference
            worker.port.exchange(input: &input, reference: &reference, output: &output, frameCount: 256)
            heard += output
            if block == 400 { worker.leave(.left(.empty(seconds: 3, decibels: 40))) } else { worker.runPending() }
        }
        // The sine's own slope plus the crossfade's.
        let slopes = zip(heard.dropFirst(100_000), heard.dropFirst(100_001)).map { abs($0 - $1) }
        let most: Float = 2.2 * 0.5 * 2 * Float.pi * 220 / 48_000 + 1 / 256
        #expect((slopes.max() ?? 1) < most)
        #expect(level(Array(heard.suffix(4_800))) > decibels(0.5 / 2.0.squareRoot()) - 0.1)
    }
}
