// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

@testable import EarshotCall

/// The local voice, from a processor's callbacks to the reader of a recording.
@Suite struct LocalVoiceRecordingTests {
    /// A processor without a device, and its recording.
    private final class Rig {
        let processor: CallProcessor
        let recording: CallRecording
        private let says: (Int64) -> Float
        private let input = AudioBuffer(channelCount: 1, frameCapacity: 256)
        private let output = AudioBuffer(channelCount: 1, frameCapacity: 256)

        /// - Parameter says: the microphone's sample for a frame of its counter.
        init(says: @escaping (Int64) -> Float = { LocalVoiceRecordingTests.sample($0) }) {
            self.says = says
            processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
            recording = CallRecording(of: processor, sampleRate: 48_000, channelCount: 1)
        }

        /// Runs a cycle of a device with both directions.
        func run(at sampleTime: Int64, count: Int = 64) {
            var cycle = cycle(sampleTime, count)
            processor.callback(&cycle)
        }

        /// Runs a cycle of a device that only captures.
        func capture(at sampleTime: Int64, count: Int = 64) {
            var cycle = cycle(sampleTime, count)
            cycle.output = Channels(output.channels.pointers, count: 0)
            processor.captureCallback(&cycle)
        }

        /// Runs a cycle of a device that only plays.
        func play(at sampleTime: Int64, count: Int = 64) {
            var cycle = cycle(sampleTime, count)
            cycle.input = Channels(input.channels.pointers, count: 0)
            processor.playbackCallback(&cycle)
        }

        private func cycle(_ sampleTime: Int64, _ count: Int) -> IOCycle {
            for i in 0..<count { input.channels[0][i] = says(sampleTime + Int64(i)) }
            return IOCycle(
                frameCount: count, sampleTime: sampleTime, hostTime: LocalVoiceRecordingTests.hostTime(sampleTime),
                inputLatency: 0, outputLatency: 0, input: input.channels, output: output.channels)
        }

        /// Reads all blocks of the local voice.
        func blocks(
            _ stage: CallRecording.LocalVoice = .dry, of another: CallRecording? = nil
        ) -> [Block] {
            var all: [Block] = []
            while let (cycle, sound) = (another ?? recording).readLocalVoice(stage) {
                let samples = Array(UnsafeBufferPointer(start: sound[0], count: cycle.frameCount))
                all.append(Block(cycle: cycle, samples: samples))
            }
            return all
        }

        /// Takes what would be sent.
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

    /// A block as the reader got it.
    private struct Block {
        let cycle: CallCycle
        let samples: [Float]

        /// The frame after the block.
        var end: Int64 { cycle.sampleTime + Int64(samples.count) }
        /// True if each sample is that of its frame, and the time that of the first frame.
        var isInPlace: Bool {
            cycle.hostTime == LocalVoiceRecordingTests.hostTime(cycle.sampleTime)
                && samples.enumerated().allSatisfy { index, sample in
                    sample == LocalVoiceRecordingTests.sample(cycle.sampleTime + Int64(index))
                }
        }
    }

    /// A sample that names its frame.
    private static func sample(_ frame: Int64) -> Float { Float(frame) / 1_048_576 }

    private static func hostTime(_ frame: Int64) -> HostTime { HostTime(nanoseconds: frame * 1_000_000_000 / 48_000) }

    private static func samples(_ blocks: [Block]) -> [Float] { blocks.flatMap(\.samples) }

    // MARK: Content

    @Test func `the dry and the raw voice are the microphone's to the bit, whatever effects and inserts send`() throws {
        let quarter = TestInsert.make(scale: 0.25).insert
        let rig = Rig()
        rig.processor.effects.set(quarter)
        rig.processor.captureInsert.set(TestInsert.make(offset: 0.5).insert)
        rig.recording.begin(includesRawVoice: true)
        for number in 0..<100 { rig.run(at: Int64(64 * number)) }
        let expected = (0..<6_400).map { Self.sample(Int64($0)) }
        let isDry = Self.samples(rig.blocks(.dry)) == expected
        let isRaw = Self.samples(rig.blocks(.raw)) == expected
        #expect(isDry && isRaw)
        // Effects and insert were faded in during the first blocks.
        let sent = rig.sent()
        try #require(sent.count == 6_400)
        let isSent = (1_024..<6_400).allSatisfy { abs(sent[$0] - 0.25 * expected[$0] - 0.5) < 1e-6 }
        #expect(isSent)
    }

    @Test func `a recording without the raw voice has the dry voice only`() {
        let rig = Rig()
        rig.recording.begin()
        for number in 0..<10 { rig.run(at: Int64(64 * number)) }
        #expect(rig.blocks(.raw).isEmpty && rig.blocks(.dry).count == 10)
    }

    @Test(arguments: [CallRecording.LocalVoice.dry, .raw])
    func `a muted voice is silence, and mute and unmute are fades over 5 ms`(stage: CallRecording.LocalVoice) throws {
        let rig = Rig { _ in 0.5 }
        rig.recording.begin(includesRawVoice: true)
        for number in 0..<50 {
            if number == 10 { rig.processor.isMuted = true }
            if number == 30 { rig.processor.isMuted = false }
            rig.run(at: Int64(64 * number))
        }
        let voice = Self.samples(rig.blocks(stage))
        try #require(voice.count == 3_200)
        // A fade ends within four blocks.
        let (muted, unmuted) = (640, 1_920)
        let isWhole = voice[..<muted].allSatisfy { $0 == 0.5 } && voice[(unmuted + 256)...].allSatisfy { $0 == 0.5 }
        let isSilent = voice[(muted + 256)..<unmuted].allSatisfy { $0 == 0 }
        #expect(isWhole && isSilent)
        #expect(abs(voice[muted + 120] - 0.25) < 0.005 && abs(voice[unmuted + 120] - 0.25) < 0.005)
        let steepest = zip(voice, voice.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
        #expect(steepest < 1.001 * 0.5 / 240, "\(steepest)")
    }

    @Test(arguments: [CallRecording.LocalVoice.dry, .raw])
    func `a recording that begins while the voice is muted has nothing of it`(stage: CallRecording.LocalVoice) {
        let rig = Rig { _ in 0.5 }
        for number in 0..<5 { rig.run(at: Int64(64 * number)) }
        rig.processor.isMuted = true
        for number in 5..<15 { rig.run(at: Int64(64 * number)) }
        rig.recording.begin(includesRawVoice: true)
        for number in 15..<20 { rig.run(at: Int64(64 * number)) }
        let voice = Self.samples(rig.blocks(stage))
        let isSilent = voice.allSatisfy { $0 == 0 }
        #expect(voice.count == 320 && isSilent, "\(voice.max() ?? 0)")
    }

    // MARK: Begin and end

    @Test func `nothing is kept before the recording begins and after it ends`() {
        let rig = Rig()
        for number in 0..<10 { rig.run(at: Int64(64 * number)) }
        #expect(rig.blocks().isEmpty)
        rig.recording.begin()
        for number in 10..<15 { rig.run(at: Int64(64 * number)) }
        rig.recording.end()
        for number in 15..<20 { rig.run(at: Int64(64 * number)) }
        // Blocks captured before the end can still be read.
        let blocks = rig.blocks()
        let isInPlace = blocks.allSatisfy(\.isInPlace)
        #expect(blocks.map(\.cycle.sampleTime) == [640, 704, 768, 832, 896] && isInPlace)
    }

    @Test func `what an earlier recording did not read is not in the next one`() {
        let rig = Rig()
        rig.recording.begin()
        for number in 0..<7 { rig.run(at: Int64(64 * number)) }
        rig.recording.end()
        let next = CallRecording(of: rig.processor, sampleRate: 48_000, channelCount: 1)
        next.begin()
        for number in 7..<10 { rig.run(at: Int64(64 * number)) }
        let blocks = rig.blocks(of: next)
        let isInPlace = blocks.allSatisfy(\.isInPlace)
        #expect(blocks.map(\.cycle.sampleTime) == [448, 512, 576] && isInPlace)
    }

    // MARK: Gaps

    @Test func `frames that the device skipped are missing between two blocks`() {
        let rig = Rig()
        rig.recording.begin()
        for time in [0, 64, 192, 256, 100_000] as [Int64] { rig.run(at: time) }
        let blocks = rig.blocks()
        let isInPlace = blocks.allSatisfy(\.isInPlace)
        #expect(blocks.map(\.cycle.sampleTime) == [0, 64, 192, 256, 100_000] && isInPlace)
    }

    /// With blocks of 8 frames the records of blocks fill their queue before the frames fill the ring.
    @Test(arguments: [64, 100, 8])
    func `a reader more than 2 s late finds a gap, and all frames after it are in their place`(count: Int) {
        let rig = Rig()
        rig.recording.begin()
        var time: Int64 = 0
        func run(_ cycles: Int) {
            for _ in 0..<cycles {
                rig.run(at: time, count: count)
                time += Int64(count)
            }
        }
        run(144_000 / count)
        let early = rig.blocks()
        let lost = time
        run(10)
        let late = rig.blocks()
        let kept = early.reduce(0) { $0 + $1.samples.count }
        let isContiguous = zip(early, early.dropFirst()).allSatisfy { $0.0.end == $0.1.cycle.sampleTime }
        #expect(early.first?.cycle.sampleTime == 0 && isContiguous)
        #expect(kept < 144_000 && kept >= (count < 16 ? 48_000 : 96_000), "\(kept)")
        #expect(late.map(\.cycle.sampleTime) == (0..<10).map { lost + Int64($0 * count) })
        let isInPlace = (early + late).allSatisfy(\.isInPlace)
        #expect(isInPlace)
    }

    @Test func `blocks of a separate microphone have its own frame counter`() {
        let rig = Rig()
        rig.recording.begin()
        for number in 0..<20 {
            rig.play(at: Int64(64 * number))
            rig.capture(at: 1_000_000 + Int64(80 * number), count: 80)
        }
        let blocks = rig.blocks()
        let isInPlace = blocks.allSatisfy(\.isInPlace)
        #expect(blocks.map(\.cycle.sampleTime) == (0..<20).map { 1_000_000 + Int64(80 * $0) } && isInPlace)
        var played: [Int64] = []
        while let cycle = rig.recording.read({ _, _, _ in }) { played.append(cycle.sampleTime) }
        #expect(played == (0..<20).map { Int64(64 * $0) })
    }
}
