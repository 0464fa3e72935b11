// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// The monitor, by which the local participant hears itself: a processor's callbacks, without a device and without others.
@Suite struct VoiceMonitorTests {
    private static let block = 64

    /// A processor with a mono device of both directions.
    private final class Rig {
        let processor: CallProcessor
        private let voice: CallVoice?
        private let says: (Int) -> Float
        private let input = AudioBuffer(channelCount: 1, frameCapacity: block)
        private let output = AudioBuffer(channelCount: 1, frameCapacity: block)
        private let none = AudioBuffer(channelCount: 1, frameCapacity: 1)
        private(set) var frame = 0
        private(set) var heard: [Float] = []

        /// - Parameter says: the microphone's sample for a frame.
        init(voice: CallVoice? = nil, effects: CallInsert? = nil, says: @escaping (Int) -> Float) {
            (self.voice, self.says) = (voice, says)
            processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup(), voice: voice)
            processor.effects.set(effects)
        }

        /// Runs cycles; `each` is called before each, with its number.
        func run(_ count: Int, apart: Bool = false, each: (Int) -> Void = { _ in }) {
            for number in 0..<count {
                each(number)
                for i in 0..<block { (input.channels[0][i], output.channels[0][i]) = (says(frame + i), 0) }
                if apart {
                    var out = cycle(input: Channels(none.channels.pointers, count: 0), output: output.channels)
                    processor.playbackCallback(&out)
                    var into = cycle(input: input.channels, output: Channels(none.channels.pointers, count: 0))
                    processor.captureCallback(&into)
                } else {
                    var both = cycle(input: input.channels, output: output.channels)
                    processor.callback(&both)
                }
                voice?.runPending()
                heard += UnsafeBufferPointer(start: output.channels[0], count: block)
                frame += block
            }
        }

        private func cycle(input: Channels, output: Channels) -> IOCycle {
            IOCycle(
                frameCount: block, sampleTime: Int64(frame),
                hostTime: HostTime(nanoseconds: Int64(frame) * 1_000_000_000 / 48_000), inputLatency: 0,
                outputLatency: 0, input: input, output: output)
        }

        /// Returns all that was sent since the last call.
        func sent() -> [Float] {
            let block = AudioBuffer(channelCount: 1, frameCapacity: 256)
            var all: [Float] = []
            while case let slice = processor.captured.reader.read(block.channels, frameCount: 256),
                slice.frameCount > 0
            {
                all.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: slice.frameCount))
            }
            return all
        }
    }

    /// A sample that names its frame.
    private static func sample(_ frame: Int) -> Float { Float(frame % 40_000) / 65_536 }

    /// The frames after which a change of the monitor has ended: 10 ms, to the end of a block.
    private static let ramp = 512
    /// The frames after which effects and insert have faded in, to the end of a block.
    private static let fade = 1_024

    @Test func `the monitor plays the local voice in the same cycle, after effects and insert`() {
        let rig = Rig(effects: TestInsert.make(scale: 0.5).insert, says: Self.sample)
        rig.processor.captureInsert.set(TestInsert.make(offset: 0.25).insert)
        rig.processor.isMonitored = true
        rig.run(100)
        let isHeard = (Self.fade..<6_400).allSatisfy {
            abs(rig.heard[$0] - 0.5 * Self.sample($0) - 0.25) < 1e-6
        }
        #expect(isHeard)
        let sent = rig.sent()
        let isSame = rig.heard.dropFirst(Self.fade).elementsEqual(sent.dropFirst(Self.fade))
        #expect(isSame && sent.count == 6_400)
    }

    @Test func `the monitor is off at first, and what is played is then untouched`() {
        let rig = Rig(says: Self.sample)
        rig.run(20)
        let isSilent = rig.heard.allSatisfy { $0 == 0 }
        #expect(isSilent && !rig.processor.isMonitored)
    }

    @Test func `mute and monitor are two controls`() {
        let (rig, plain) = (Rig { _ in 0.5 }, Rig { _ in 0.5 })
        rig.processor.isMonitored = true
        rig.run(40)
        plain.run(40)
        let isSame = rig.sent() == plain.sent()
        #expect(isSame)
        rig.processor.isMuted = true
        rig.run(40)
        let (muted, heard) = (rig.sent(), rig.heard.suffix(40 * Self.block))
        let isMuted = muted.dropFirst(Self.ramp).allSatisfy { $0 == 0 }
        let isHeard = heard.allSatisfy { $0 == 0.5 }
        #expect(isMuted && isHeard)
        rig.processor.isMonitored = false
        rig.run(40)
        let isSilent = rig.heard.suffix(40 * Self.block).dropFirst(Self.ramp).allSatisfy { $0 == 0 }
        #expect(isSilent)
        rig.processor.isMuted = false
        rig.run(40)
        let isSent = rig.sent().suffix(20 * Self.block).allSatisfy { $0 == 0.5 }
        #expect(isSent)
    }

    @Test func `the monitor is later by its delay, and what is sent is not`() {
        let rig = Rig(says: Self.sample)
        rig.processor.monitorDelay = 0.01
        #expect(rig.processor.monitorDelay == 0.01)
        rig.processor.isMonitored = true
        rig.run(100)
        let isLate = (Self.fade + 960..<6_400).allSatisfy { rig.heard[$0] == Self.sample($0 - 480) }
        let isSilent = rig.heard.prefix(480).allSatisfy { $0 == 0 }
        #expect(isLate && isSilent)
        let isSent = rig.sent().enumerated().dropFirst(Self.fade).allSatisfy { $1 == Self.sample($0) }
        #expect(isSent)
        // After a pause nothing of the time before is heard.
        rig.processor.isMonitored = false
        rig.run(20)
        rig.processor.isMonitored = true
        let from = rig.heard.count
        rig.run(7)
        let isAnew = rig.heard[from..<from + 448].allSatisfy { $0 == 0 }
        #expect(isAnew)
        rig.processor.monitorDelay = 100
        #expect(rig.processor.monitorDelay == 0.25)
        rig.processor.monitorDelay = -1
        #expect(rig.processor.monitorDelay == 0)
    }

    @Test func `another delay of the monitor is a fade`() {
        let rig = Rig { sine($0, frequency: 100, rate: 48_000, amplitude: 0.2) }
        rig.processor.isMonitored = true
        let delays = [0, 0.012_5, 0.25, 0.003, 0, 0.005]
        rig.run(60 * delays.count) { if $0 % 60 == 0 { rig.processor.monitorDelay = delays[$0 / 60] } }
        // A step between two tones of 0.2 would be 0.4; the tone alone changes by 0.0026 a frame, and the fade by 0.4 in 960.
        let steps = zip(rig.heard.dropFirst(Self.fade), rig.heard.dropFirst(Self.fade + 1)).map { abs($1 - $0) }
        #expect(steps.allSatisfy { $0 < 0.004 }, "\(steps.max() ?? 0)")
        let last = rig.heard.count - 1_000
        let isLate = (last..<rig.heard.count).allSatisfy {
            rig.heard[$0] == sine($0 - 240, frequency: 100, rate: 48_000, amplitude: 0.2)
        }
        #expect(isLate)
    }

    @Test func `turning the monitor on and off makes no click, also during a ramp`() {
        let rig = Rig { sine($0, frequency: 100, rate: 48_000, amplitude: 0.2) }
        var (gain, step, remaining): (Float, Float, Int) = (0, 0, 0)
        var gains: [Float] = []
        rig.run(900) { number in
            if number % 7 == 0 || number % 11 == 0 {
                rig.processor.isMonitored.toggle()
                // Each change takes 10 ms, also one that comes before the end of another.
                remaining = 480
                step = ((rig.processor.isMonitored ? 1 : 0) - gain) / 480
            }
            for _ in 0..<Self.block {
                gain = remaining > 0 ? gain + step : rig.processor.isMonitored ? 1 : 0
                remaining = max(0, remaining - 1)
                gains.append(gain)
            }
        }
        let isExpected = rig.heard.indices.allSatisfy {
            abs(rig.heard[$0] - gains[$0] * sine($0, frequency: 100, rate: 48_000, amplitude: 0.2)) < 1e-3
        }
        var meter = ClickMeter(rate: 48_000)
        for sample in rig.heard { meter.add(sample) }
        #expect(meter.level < -60, "\(meter.level) dBFS")
        #expect(isExpected)
    }

    @Test func `a loud voice stays below full scale, and its limiter recovers without a click`() throws {
        let call = try VirtualCall()
        call.a.says = { sine($0, frequency: 100, rate: 48_000, amplitude: 0.2) }
        call.b.says = { sine($0, frequency: 70, rate: 48_000, amplitude: 0.5) }
        call.b.session.captureInsert = TestInsert.make(scale: 4).insert
        call.run(until: 1)
        call.b.session.isMonitored = true
        call.run(until: 2)
        let isBelowFullScale = call.b.heard(1..<2).allSatisfy { abs($0) <= 1 }
        #expect(isBelowFullScale && call.b.heard(1.5..<2).contains { abs($0) > 0.9 })
        call.b.session.isMonitored = false
        call.run(until: 3)
        var meter = ClickMeter(rate: 48_000)
        for sample in call.b.heard(2.01..<3) { meter.add(sample) }
        #expect(meter.level < -60, "\(meter.level) dBFS")
        // After its recovery the limiter changes nothing.
        let plain = try VirtualCall()
        plain.a.says = call.a.says
        plain.run(until: 3)
        let isSame = call.b.heard(2.6..<3) == plain.b.heard(2.6..<3)
        #expect(isSame)
        // Its gain rises by 2 a second from the last loud block on.
        func gain(_ start: Double) -> Float {
            let range = start..<start + 0.01
            let products = zip(call.b.heard(range), plain.b.heard(range)).map { ($0 * $1, $1 * $1) }
            return products.reduce(0) { $0 + $1.0 } / products.reduce(0) { $0 + $1.1 }
        }
        #expect((0.4..<0.7).contains(gain(2.02)), "\(gain(2.02))")
        #expect(abs(gain(2.12) - gain(2.02) - 0.2) < 0.01, "\(gain(2.12))")
    }

    @Test func `others' volume and level are without the monitor`() {
        let rig = Rig { _ in 0.5 }
        rig.processor.outputVolume = 0
        rig.processor.isMonitored = true
        rig.run(40)
        #expect(rig.heard.last == 0.5 && rig.processor.levels.heard.peak == 0)
    }

    @Test func `two devices have no common cycle, and no monitor`() {
        let rig = Rig { _ in 0.5 }
        rig.processor.isMonitored = true
        rig.run(40, apart: true)
        let isSilent = rig.heard.allSatisfy { $0 == 0 }
        #expect(isSilent && rig.sent().last == 0.5)
    }

    @Test func `a stereo voice is heard on both sides`() {
        let processor = CallProcessor(channelCount: 2, deviceRate: 48_000, wakeup: Wakeup())
        processor.isMonitored = true
        let input = AudioBuffer(channelCount: 2, frameCapacity: Self.block)
        let output = AudioBuffer(channelCount: 2, frameCapacity: Self.block)
        for number in 0..<20 {
            for i in 0..<Self.block { (input.channels[0][i], input.channels[1][i]) = (0.5, -0.25) }
            var cycle = IOCycle(
                frameCount: Self.block, sampleTime: Int64(number * Self.block), hostTime: HostTime(nanoseconds: 0),
                inputLatency: 0, outputLatency: 0, input: input.channels, output: output.channels)
            processor.callback(&cycle)
        }
        #expect(output.channels[0][63] == 0.5 && output.channels[1][63] == -0.25)
    }

    // MARK: Recording and voice processing

    @Test func `a recording is the same with and without the monitor`() {
        func recorded(_ isMonitored: Bool) -> [[Float]] {
            let rig = Rig(effects: TestInsert.make(scale: 0.5).insert, says: Self.sample)
            let recording = CallRecording(of: rig.processor, sampleRate: 48_000, channelCount: 1)
            recording.begin(includesRawVoice: true)
            rig.processor.isMonitored = isMonitored
            rig.run(200)
            var all: [[Float]] = [[], [], []]
            for (index, stage) in [CallRecording.LocalVoice.dry, .raw].enumerated() {
                while let (cycle, sound) = recording.readLocalVoice(stage) {
                    all[index] += UnsafeBufferPointer(start: sound[0], count: cycle.frameCount)
                }
            }
            // The cycles from which the remote voices are rendered again.
            while let cycle = recording.read({ _, _, _ in }) { all[2].append(Float(cycle.sampleTime)) }
            return all
        }
        let (plain, monitored) = (recorded(false), recorded(true))
        #expect(plain == monitored && plain[0].count == 200 * Self.block && plain[2].count == 200)
    }

    @Test(.optimized)
    func `with voice processing the monitor changes nothing that is sent, and plays its output at once`() throws {
        var random = SeededRandom(seed: 4)
        let noise = (0..<48_000).map { _ in Float(random.unit() - 0.5) * 0.3 }
        let says: (Int) -> Float = { noise[$0 % noise.count] * (($0 / 9_600) % 2 == 0 ? 1 : 0.1) }
        func run(_ isMonitored: Bool) throws -> (sent: [Float], heard: [Float], delay: Double) {
            let voice = CallVoice(canProcess: true, sampleRate: 48_000, blockFrameCount: Self.block)
            let rig = Rig(voice: voice, says: says)
            voice.setProcessing(true)
            rig.processor.isMonitored = isMonitored
            var sent: [Float] = []
            for _ in 0..<150 {
                rig.run(10)
                sent += rig.sent()
            }
            #expect(voice.processing == .on && voice.lateFrameCount == 0)
            return (sent, rig.heard, voice.processingLatency)
        }
        let (plain, monitored) = (try run(false), try run(true))
        #expect(plain.delay > 0.01)
        let isSame = plain.sent == monitored.sent
        #expect(isSame && monitored.sent.contains { abs($0) > 0.01 })
        let isHeard = monitored.heard.dropFirst(Self.ramp).elementsEqual(monitored.sent.dropFirst(Self.ramp))
        #expect(isHeard)
    }
}
