// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioQueues
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite struct AudioRecorderTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/earshot-\(UUID().uuidString)"

    private func inFolder(_ body: (String) throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func samples(_ path: String) throws -> [Float] {
        let reader = try AudioFileReader(path: path)
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 1 << 18)
        let count = try reader.read(into: buffer.channels, frameCount: 1 << 18)
        return Array(UnsafeBufferPointer(start: buffer.channels[0], count: count))
    }

    @Test(arguments: [[256], [1], [8_192, 77]])
    func `a file holds exactly the frames from record to pause, and recording again appends`(
        blocks: [Int]
    ) throws {
        try inFolder { folder in
            let rig = QueueRig()
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: rig.format, on: rig.engine)
            try rig.start(inputs: 1)
            try rig.render(5_000, blocks: blocks, input: numbered)
            try recorder.record()
            #expect(recorder.isRecording)
            try rig.render(30_000, blocks: blocks, input: numbered)
            recorder.pause()
            try rig.render(10_000, blocks: blocks, input: numbered)
            #expect(!recorder.isRecording && recorder.level.peak > 0)
            try recorder.record()
            try rig.render(7_777, blocks: blocks, input: numbered)
            try recorder.stop()
            let wanted = ((5_000..<35_000).map { $0 } + (45_000..<52_777)).map(numbered)
            #expect(try samples(folder + "/take.wav") == wanted)
            #expect(recorder.frameCount == 37_777 && recorder.lostFrameCount == 0 && recorder.error == nil)
            #expect(throws: AudioRecorderError.self) { try recorder.record() }
        }
    }

    @Test func `a recorder and player started before the engine lose no frame in manual rendering`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            let file = try TemporaryFile((0..<200_000).map(numbered))
            let player = try AudioPlayer(path: file.path, on: rig.engine)
            let recorder = try AudioRecorder(
                path: folder + "/take.wav", format: rig.format, on: rig.engine, from: rig.engine.mainMixerNode)
            try recorder.record()
            try player.play()
            try rig.start()
            let heard = try rig.render(200_000, blocks: [4_096])
            try recorder.stop()
            #expect(heard == (0..<200_000).map(numbered))
            #expect(try samples(folder + "/take.wav") == heard)
        }
    }

    @Test func `recording starts at a given frame and ends after a given duration`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: rig.format, on: rig.engine)
            try rig.start(inputs: 1)
            try recorder.record(at: .sample(12_345), forDuration: 0.5)
            try rig.render(60_000, input: numbered)
            #expect(!recorder.isRecording && recorder.elapsedFrameCount == 24_000)
            try recorder.record(forDuration: 0.01)
            #expect(recorder.isRecording)
            try rig.render(6_000, input: numbered)
            #expect(!recorder.isRecording && recorder.elapsedFrameCount == 24_480)
            try recorder.stop()
            let wanted = ((12_345..<36_345).map { $0 } + (60_000..<60_480)).map(numbered)
            #expect(try samples(folder + "/take.wav") == wanted)
            #expect(recorder.recordedPeak == numbered(60_479))
        }
    }

    @Test(arguments: [48_000.0, 24_000])
    func `a start time set before the engine starts is kept`(rate: Double) throws {
        try inFolder { folder in
            let rig = QueueRig()
            let format = AudioFormat(sampleRate: rate, channelCount: 1)
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: format, on: rig.engine)
            try recorder.record(at: .sample(24_000))
            try rig.start(inputs: 1)
            try rig.render(48_000, input: numbered)
            try recorder.stop()
            let captured = recorder.queue.statistics.frameCount
            #expect(captured - recorder.frameCount == Int(rate / 2))
            if rate == 48_000 { #expect(try samples(folder + "/take.wav") == (24_000..<48_000).map(numbered)) }
        }
    }

    @Test(arguments: [100_000, 100])
    func `recording starts immediately after an engine restart`(before: Int) throws {
        try inFolder { folder in
            let rig = QueueRig()
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: rig.format, on: rig.engine)
            try rig.start(inputs: 1)
            try recorder.prepareToRecord()
            try rig.render(before, input: numbered)
            rig.engine.stop()
            try recorder.record()
            try rig.start(inputs: 1)
            try rig.render(10_000, input: numbered)
            rig.engine.stop()
            try rig.start(inputs: 1)
            try rig.render(10_000, input: numbered)  // goes on
            recorder.pause()
            rig.engine.stop()
            try rig.start(inputs: 1)
            try rig.render(10_000, input: numbered)  // stays paused
            rig.engine.stop()
            try rig.start(inputs: 1)
            try recorder.record()  // before the first block
            try rig.render(10_000, input: numbered)
            try recorder.stop()
            let wanted = (before..<before + 20_000).map { $0 } + (before + 30_000..<before + 40_000)
            #expect(try samples(folder + "/take.wav") == wanted.map(numbered))
            #expect(recorder.lostFrameCount == 0)
        }
    }

    @Test func `a duration spans an engine restart, and a pause lasts until the next scheduled start`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: rig.format, on: rig.engine)
            try rig.start(inputs: 1)
            try rig.render(50_000, input: numbered)
            try recorder.record(forDuration: 0.5)
            try rig.render(10_000, input: numbered)
            rig.engine.stop()
            try rig.start(inputs: 1)
            try rig.render(1, input: numbered)
            #expect(recorder.isRecording)
            try rig.render(39_999, input: numbered)
            #expect(!recorder.isRecording && recorder.elapsedFrameCount == 24_000)
            try recorder.record()
            try rig.render(1_000, input: numbered)
            rig.engine.stop()
            recorder.pause()
            try rig.start(inputs: 1)
            try recorder.record(at: .sample(3_000))
            try rig.render(10_000, input: numbered)
            try recorder.stop()
            let wanted = (50_000..<74_000).map { $0 } + (100_000..<101_000) + (104_000..<111_000)
            #expect(try samples(folder + "/take.wav") == wanted.map(numbered))
        }
    }

    @Test func `extreme durations are accepted`() throws {
        try inFolder { folder in
            let rig = QueueRig(rate: 8_000)
            var options = AudioRecorder.Options()
            (options.preRoll, options.partDuration) = (.infinity, .infinity)
            for (k, kept) in [Double.nan, .infinity, -1].enumerated() {
                options.silence = AudioRecorder.SilenceTrimming(kept: kept)
                _ = try AudioRecorder(
                    path: folder + "/\(k).wav", format: rig.format, on: rig.engine, options: options)
            }
            options.silence = nil
            let recorder = try AudioRecorder(
                path: folder + "/take.wav", format: rig.format, on: rig.engine, options: options)
            try rig.start(inputs: 1)
            try recorder.prepareToRecord()
            try rig.render(10_000, input: numbered)
            for (k, duration) in [Double.infinity, .greatestFiniteMagnitude, 1e15].enumerated() {
                try recorder.record(forDuration: duration)
                try rig.render(10_000, input: numbered)
                #expect(recorder.isRecording && recorder.frameCount == 20_000 + 10_000 * k)
            }
            try recorder.record(forDuration: .nan)
            try rig.render(10_000, input: numbered)
            try recorder.record(at: .sample(.max), forDuration: .infinity)
            try rig.render(10_000, input: numbered)
            try recorder.stop()
            #expect(try samples(folder + "/take-001.wav") == (0..<40_000).map(numbered))
        }
    }

    @Test(arguments: [0.25, 1, 10])
    func `the pre-roll holds the sound before recording started`(seconds: Double) throws {
        try inFolder { folder in
            let rig = QueueRig()
            var options = AudioRecorder.Options()
            options.preRoll = seconds
            let recorder = try AudioRecorder(
                path: folder + "/take.wav", format: rig.format, on: rig.engine, options: options)
            try rig.start(inputs: 1)
            try recorder.prepareToRecord()
            try rig.render(100_000, blocks: [999], input: numbered)
            try recorder.record()
            try rig.render(20_000, blocks: [999], input: numbered)
            recorder.pause()
            try rig.render(20_000, blocks: [999], input: numbered)
            try recorder.record()  // has none
            try rig.render(1_000, blocks: [999], input: numbered)
            try recorder.stop()
            let first = max(0, 100_000 - Int(seconds * 48_000))
            #expect(
                try samples(folder + "/take.wav") == ((first..<120_000).map { $0 } + (140_000..<141_000)).map(numbered))
        }
    }

    @Test func `parts join without a lost or duplicated frame`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            var options = AudioRecorder.Options()
            options.partDuration = 0.2
            let recorder = try AudioRecorder(
                path: folder + "/take.wav", format: rig.format, on: rig.engine, options: options)
            try rig.start(inputs: 1)
            try recorder.record()
            try rig.render(48_000, blocks: [777], input: numbered)
            try recorder.stop()
            let paths = (1...5).map { folder + "/take-00\($0).wav" }
            #expect(recorder.paths == paths)
            #expect(try paths.map { try samples($0).count } == [9_600, 9_600, 9_600, 9_600, 9_600])
            #expect(try paths.flatMap { try samples($0) } == (0..<48_000).map(numbered))
        }
        #expect(AudioRecorderFile(path: "a.b/take").path(ofPart: 12) == "a.b/take-012")
        #expect(AudioRecorderFile(path: "/x/.take").path(ofPart: 1_234) == "/x/.take-1234")
    }

    @Test func `several file formats are recorded at once, and a failed one does not affect the others`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            // LAME's file begins with its first frames, so that the disk fills up during the recording.
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/full.mp3", withDestinationPath: "/dev/full")
            let names = ["/take.wav", "/take.flac", "/take.mp3"].map { AudioRecorderFile(path: folder + $0) }
            let recorder = try AudioRecorder(
                files: names + [AudioRecorderFile(path: folder + "/full.mp3")], format: rig.format, on: rig.engine)
            try rig.start(inputs: 1)
            try recorder.record()
            let tone = { (n: Int) in sine(n, frequency: 440, rate: 48_000) }
            try rig.render(96_000, input: tone)
            #expect(throws: AudioRecorderError.self) { try recorder.stop() }
            #expect(recorder.error == .diskFull(path: folder + "/full.mp3"))
            let wanted = (0..<96_000).map(tone)
            for (name, bound) in zip(names, [-200.0, -100, -30]) {
                let got = try samples(name.path)
                #expect(got.count == 96_000)
                #expect(errorDecibels(wanted, got) < bound)
            }
            #expect(recorder.files.map { $0.error == nil } == [true, true, true, false])
            #expect(recorder.files.prefix(3).allSatisfy { $0.frameCount == 96_000 })
        }
    }

    @Test func `silence is trimmed except for a margin on each side`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            var options = AudioRecorder.Options()
            options.silence = AudioRecorder.SilenceTrimming(threshold: -60, kept: 0.1)
            let recorder = try AudioRecorder(
                path: folder + "/take.wav", format: rig.format, on: rig.engine, options: options)
            try rig.start(inputs: 1)
            try recorder.record()
            // Sound at 20,000, from 60,000 to 70,000, and at 75,000: short silence is kept.
            let signal = { (n: Int) -> Float in
                n == 20_000 || (60_000..<70_000).contains(n) || n == 75_000 ? 0.5 : 0.000_5 * Float(n % 2)
            }
            try rig.render(120_000, blocks: [333], input: signal)
            try recorder.stop()
            let wanted = (15_200...24_800).map(signal) + (55_200...79_800).map(signal)
            #expect(try samples(folder + "/take.wav") == wanted)
            #expect(recorder.frameCount + recorder.trimmedFrameCount == 120_000)
        }
    }

    @Test(.realTime) func `frames skipped by the device become silence, so that the file keeps time`() throws {
        try inFolder { folder in
            let engine = AudioEngine()
            let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
            let recorder = try AudioRecorder(path: folder + "/take.wav", format: format, on: engine)
            let callback = try engine.startRealtimeRendering(format: format, inputChannelCount: 1)
            try recorder.record()
            let input = AudioBuffer(channelCount: 1, frameCapacity: 100)
            let output = AudioBuffer(channelCount: 1, frameCapacity: 100)
            var time: Int64 = 0
            for k in 0..<20 {
                if k == 10 { time += 1_000 }
                for i in 0..<100 { input.channels[0][i] = numbered(Int(time) + i) }
                var cycle = IOCycle(
                    frameCount: 100, sampleTime: time, hostTime: HostTime(nanoseconds: time), inputLatency: 0,
                    outputLatency: 0, input: input.channels, output: output.channels)
                callback(&cycle)
                time += 100
            }
            engine.stop()
            try recorder.stop()
            let wanted = (0..<3_000).map { (1_000..<2_000).contains($0) ? 0 : numbered($0) }
            #expect(try samples(folder + "/take.wav") == wanted)
            #expect(recorder.lostFrameCount == 1_000)
        }
    }

    /// Blocks until it may write.
    private final class HungWriter: SoundFileWriter {
        private let file: AudioFileWriter
        private let gate: DispatchSemaphore
        var format: AudioFormat { file.format }
        var fileSampleRate: Double { file.fileSampleRate }
        var frameCount: Int { file.frameCount }
        init(_ path: String, _ format: AudioFormat, _ gate: DispatchSemaphore) throws(AudioFileError) {
            file = try AudioFileWriter(path: path, format: format)
            self.gate = gate
        }
        func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) {
            gate.wait()
            gate.signal()
            try file.write(channels, frameCount: frameCount, offset: offset)
        }
        func writeSilence(frameCount: Int) throws(AudioFileError) { try file.writeSilence(frameCount: frameCount) }
        func close() throws(AudioFileError) { try file.close() }
    }

    @Test(.realTime) func `frames lost at the end during a disk stall are counted and become silence`() throws {
        try inFolder { folder in
            let engine = AudioEngine()
            let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
            let gate = DispatchSemaphore(value: 0)
            let file = AudioRecorderFile(path: folder + "/take.wav") { path, format throws(AudioFileError) in
                try HungWriter(path, format, gate)
            }
            let recorder = try AudioRecorder(files: [file], format: format, on: engine)
            let callback = try engine.startRealtimeRendering(format: format, inputChannelCount: 1)
            try recorder.record()
            let input = AudioBuffer(channelCount: 1, frameCapacity: 1_000)
            let output = AudioBuffer(channelCount: 1, frameCapacity: 1_000)
            for k in 0..<310 {
                let time = Int64(1_000 * k)
                for i in 0..<1_000 { input.channels[0][i] = numbered(1_000 * k + i) }
                var cycle = IOCycle(
                    frameCount: 1_000, sampleTime: time, hostTime: HostTime(nanoseconds: time), inputLatency: 0,
                    outputLatency: 0, input: input.channels, output: output.channels)
                callback(&cycle)
            }
            engine.stop()
            gate.signal()
            try recorder.stop()
            // Six seconds of buffers; there were none for the rest.
            #expect(recorder.queue.statistics.overrun == 22_000)
            #expect(recorder.lostFrameCount == 22_000 && recorder.frameCount == 310_000)
            let reader = try AudioFileReader(path: folder + "/take.wav")
            #expect(reader.frameCount == 310_000)
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: 310_000)
            #expect(try reader.read(into: buffer.channels, frameCount: 310_000) == 310_000)
            let wanted = (0..<310_000).map { $0 < 288_000 ? numbered($0) : 0 }
            #expect(Array(UnsafeBufferPointer(start: buffer.channels[0], count: 310_000)) == wanted)
        }
    }

    @Test func `no file is touched if one of them cannot be created`() throws {
        try inFolder { folder in
            let rig = QueueRig()
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/old.wav"))
            for name in ["/new.wav", "/old.wav"] {
                #expect(throws: AudioRecorderError.self) {
                    try AudioRecorder(
                        files: [name, "/no/take.wav"].map { AudioRecorderFile(path: folder + $0) }, format: rig.format,
                        on: rig.engine)
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["old.wav"])
            #expect(FileManager.default.contents(atPath: folder + "/old.wav") == Data([1, 2, 3]))
            #expect(throws: AudioRecorderError.self) {
                try AudioRecorder(
                    files: [
                        AudioRecorderFile(path: folder + "/old.wav"),
                        AudioRecorderFile(
                            path: folder + "/new.m4a", settings: SoundFiles.Settings(bitRate: .variable(2))),
                    ], format: rig.format, on: rig.engine)
            }
            #expect(FileManager.default.contents(atPath: folder + "/old.wav") == Data([1, 2, 3]))
        }
    }

    @Test func `recording appends to an existing file and numbers parts from a given start`() throws {
        try inFolder { folder in
            func record(_ file: AudioRecorderFile, _ options: AudioRecorder.Options = .init()) throws -> [String] {
                let rig = QueueRig()
                let recorder = try AudioRecorder(
                    files: [file], format: rig.format, on: rig.engine, options: options)
                try rig.start(inputs: 1)
                try recorder.record()
                try rig.render(10_000, input: numbered)
                try recorder.stop()
                return recorder.paths
            }
            _ = try record(AudioRecorderFile(path: folder + "/take.wav"))
            _ = try record(AudioRecorderFile(appendingTo: folder + "/take.wav"))
            let once = (0..<10_000).map(numbered)
            #expect(try samples(folder + "/take.wav") == once + once)
            var options = AudioRecorder.Options()
            options.partDuration = 0.125
            options.firstPart = 7
            #expect(
                try record(AudioRecorderFile(path: folder + "/take.wav"), options)
                    == [folder + "/take-007.wav", folder + "/take-008.wav"])
            let other = QueueRig(rate: 44_100)
            #expect(throws: AudioRecorderError.self) {
                try AudioRecorder(
                    files: [AudioRecorderFile(appendingTo: folder + "/take.wav")], format: other.format,
                    on: other.engine)
            }
        }
    }
}
