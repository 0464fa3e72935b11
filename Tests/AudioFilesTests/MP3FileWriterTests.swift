// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@Suite struct MP3FileWriterTests {
    static let rates = MP3Encoder.sampleRates

    /// Returns the file as ffmpeg decodes it, one array per channel.
    private func decodedByFFmpeg(_ path: String, in folder: Folder) throws -> [[Float]] {
        let wav = folder.path("\(UUID().uuidString).wav")
        let run = try run("ffmpeg", "-v", "error", "-i", path, "-c:a", "pcm_f32le", wav)
        #expect(run.status == 0 && run.output.isEmpty, "\(run.output)")
        return try contents(wav)
    }

    private func write(
        _ sound: AudioBuffer, frames: Int, rate: Double, to path: String, bitRate: MP3Encoder.BitRate = .variable(2)
    ) throws {
        let format = AudioFormat(sampleRate: rate, channelCount: sound.channels.count)
        let writer = try MP3FileWriter(path: path, format: format, bitRate: bitRate)
        var at = 0
        for block in [1, 63, 1152, 480, 5000].lazy.flatMap({ [Int](repeating: $0, count: 3) }) + [frames] {
            let count = min(block, frames - at)
            try writer.write(sound.channels, frameCount: count, offset: at)
            at += count
        }
        #expect(writer.frameCount == frames)
        try writer.close()
        try writer.close()
    }

    @Test("Two decoders return the written samples with the exact frame count", arguments: rates, [1, 2])
    func roundTrip(rate: Double, channels: Int) throws {
        let folder = try Folder()
        for frames in [channels == 1 ? 1151 : 1, 40_001] {
            let sound = tone(frames: frames, channels: channels, rate: rate, hertz: rate / 50)
            let path = folder.path("\(frames).mp3")
            try write(sound, frames: frames, rate: rate, to: path)
            // Another program starts slowly: it decodes the short file in mono and the long one in stereo.
            let isHeardByFFmpeg = (channels == 1) == (frames < 10_000)
            for heard in [try contents(path)] + (isHeardByFFmpeg ? [try decodedByFFmpeg(path, in: folder)] : []) {
                #expect(heard.count == channels)
                for c in 0..<channels where frames > 10_000 {
                    let inside = 1200..<frames - 1200
                    #expect(errorDecibels(Array(heard[c][inside]), samples(sound, c, inside)) < -38)
                    let errors = inside.map { abs(heard[c][$0] - sound.channels[c][$0]) }
                    #expect((errors.max() ?? 1) < 0.05)
                }
                // At these sample rates no decoder finds the exact length of a file shorter than a block, even of LAME's own.
                #expect(heard[0].count == frames || frames == 1 && rate <= 24_000 && heard[0].count < 1152)
            }
        }
    }

    @Test(
        "Files have the requested constant bit rate",
        arguments: [
            (MP3Encoder.BitRate.constant(128), 128.0), (.constant(192), 192), (.constant(320), 320),
        ])
    func constant(bitRate: MP3Encoder.BitRate, kilobits: Double) throws {
        let folder = try Folder()
        let frames = 4 * 48_000
        let sound = noise(frames)
        let path = folder.path("a.mp3")
        try write(sound, frames: frames, rate: 48_000, to: path, bitRate: bitRate)
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(abs(Double(size) * 8 / 4_000 / kilobits - 1) < 0.02)
        #expect(try decodedByFFmpeg(path, in: folder)[1].count == frames)
    }

    @Test func variableRatesFallWithTheQuality() throws {
        let folder = try Folder()
        let sound = noise(2 * 44_100)
        var sizes: [Int] = []
        for quality in 0...9 {
            let path = folder.path("\(quality).mp3")
            try write(sound, frames: 2 * 44_100, rate: 44_100, to: path, bitRate: .variable(quality))
            sizes.append(try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int))
        }
        #expect(sizes == sizes.sorted(by: >) && sizes[0] > 2 * sizes[9])
    }

    @Test(
        "Sample rates that MP3 does not support are converted",
        arguments: [(96_000.0, 48_000.0), (88_200, 44_100), (47_999.5, 48_000)])
    func converted(rate: Double, fileRate: Double) throws {
        let folder = try Folder()
        let path = folder.path("a.mp3")
        let sound = tone(frames: 50_001, channels: 2, rate: rate)
        try write(sound, frames: 50_001, rate: rate, to: path, bitRate: .constant(320))
        let heard = try decodedByFFmpeg(path, in: folder)
        let frames = Int((50_001 * fileRate / rate).rounded())
        #expect(heard[0].count == frames)
        let expected = tone(frames: frames, channels: 2, rate: fileRate)
        let inside = 1200..<frames - 1200
        #expect(errorDecibels(Array(heard[1][inside]), samples(expected, 1, inside)) < -35)
        #expect(try AudioFileReader(path: path).processingFormat.sampleRate == fileRate)
    }

    @Test func theFilePlaysThoughNeverClosed() throws {
        let folder = try Folder()
        let path = folder.path("live.mp3")
        let sound = tone(frames: 48_000, channels: 2)
        let writer = try MP3FileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2))
        for second in 1...3 {
            try writer.write(sound.channels, frameCount: 48_000)
            // A copy is the file that a kill at this time would leave: everything that was encoded is in it.
            let copy = folder.path("copy\(second).mp3")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            for heard in [try contents(copy), try decodedByFFmpeg(copy, in: folder)] {
                #expect(heard[0].count > 48_000 * second - 7_200)
                #expect(heard[0].count < 48_000 * second + 4_800)
                let level = heard[1].reduce(0) { $0 + Double($1 * $1) } / Double(heard[1].count)
                #expect(abs(10 * log10(level * 8)) < 0.6)
            }
        }
    }

    @Test func theFileIsTheEncodersStreamAndItsHeader() throws {
        let folder = try Folder()
        let path = folder.path("a.mp3")
        let sound = noise(20_000)
        let encoder = try MP3Encoder(sampleRate: 48_000, channelCount: 2)
        var stream: [UInt8] = []
        for at in stride(from: 0, to: 20_000, by: 4_000) {
            stream += try encoder.encode(sound.channels, frameCount: 4_000, offset: at)
        }
        stream += try encoder.flush()
        #expect(try encoder.flush().isEmpty)
        stream.replaceSubrange(0..<encoder.header().count, with: encoder.header())
        #expect(throws: MP3Error.finished) { try encoder.encode(sound.channels, frameCount: 1) }
        try write(sound, frames: 20_000, rate: 48_000, to: path)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == stream)
    }

    @Test func aKilledRecorderLeavesAFileThatPlays() throws {
        let folder = try Folder()
        let path = folder.path("killed.mp3")
        let child = try ChildProcess(
            [
                CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter",
                "MP3FileWriterTests/recordUntilKilled",
            ], environment: ["EARSHOT_TEST_RECORD_TO": path])
        var size = 0
        for _ in 0..<1_000 where size < 60_000 {
            usleep(10_000)
            size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
        child.signal(SIGKILL)
        #expect(child.wait() == .signal(SIGKILL))
        let heard = try decodedByFFmpeg(path, in: folder)
        #expect(heard[0].count > 30_000)
        #expect(sineDefect(Array(heard[0][10_000..<30_000]), frequency: 997, rate: 48_000) < -40)
        #expect(abs(try contents(path)[0].count - heard[0].count) < 3_000)
    }

    /// The other half of the previous test.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_TO"] != nil))
    func recordUntilKilled() throws {
        let path = try #require(ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_TO"])
        let ring = AudioRing(channelCount: 2, capacity: 48_000)
        let recorder = try FileRecorder(
            makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: ring.channelCount)), from: ring)
        try recorder.start()
        let sound = tone(frames: 48_000, channels: 2)
        while true {
            for block in 0..<100 { ring.writer.write(sound.channels, frameCount: 480, offset: block * 480) }
            usleep(100_000)
        }
    }

    @Test func aRecorderWritesMP3WhereThePathSaysSo() throws {
        let folder = try Folder()
        let path = folder.path("Take 1.MP3")
        let ring = AudioRing(channelCount: 1, capacity: 48_000)
        let recorder = try FileRecorder(
            makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: ring.channelCount), bitRate: .constant(320)),
            from: ring)
        let sound = tone(frames: 30_000)
        ring.writer.write(sound.channels, frameCount: 10_000)
        try recorder.start()
        while ring.writer.heldFrames > 0 { usleep(500) }
        ring.writer.skip(5_000)
        ring.writer.write(sound.channels, frameCount: 15_000, offset: 15_000)
        recorder.stop()
        #expect(recorder.error == nil && recorder.lostFrameCount == 5_000 && recorder.frameCount == 30_000)
        let heard = try decodedByFFmpeg(path, in: folder)[0]
        #expect(heard.count == 30_000)
        #expect(errorDecibels(Array(heard[1_200..<8_800]), samples(sound, 0, 1_200..<8_800)) < -40)
        #expect(errorDecibels(Array(heard[16_200..<28_800]), samples(sound, 0, 16_200..<28_800)) < -40)
        #expect(heard[11_200..<13_800].allSatisfy { abs($0) < 0.001 })
    }

    @Test func aFullDiskKeepsWhatItHolds() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let path = disk.path + "/a.mp3"
        let sound = noise(48_000)
        let writer = try MP3FileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), bitRate: .constant(320))
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<10 { try writer.write(sound.channels, frameCount: 48_000) }
        }
        #expect(throws: AudioFileError.closed(path: path)) { try writer.write(sound.channels, frameCount: 1) }
        #expect(try contents(path)[0].count > 48_000)
    }

    @Test func nothingWrittenIsNoSound() throws {
        let folder = try Folder()
        let path = folder.path("empty.mp3")
        try MP3FileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2)).close()
        #expect(FileManager.default.fileExists(atPath: path))
        let probe = try run("ffmpeg", "-v", "error", "-i", path, "-f", "null", "-")
        #expect(probe.status == 0 || probe.output.contains("Invalid"))
    }

    @Test func whatMP3LacksIsRefused() throws {
        let folder = try Folder()
        for (channels, bitRate) in [(3, MP3Encoder.BitRate.variable(2)), (2, .constant(129)), (2, .variable(10))] {
            let path = folder.path("a.mp3")
            let error = #expect(throws: AudioFileError.self) {
                try MP3FileWriter(
                    path: path, format: AudioFormat(sampleRate: 48_000, channelCount: channels), bitRate: bitRate)
            }
            guard case .unsupportedFormat? = error else { Issue.record("\(String(describing: error))"); continue }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let sound = tone(frames: 48_000)
        #expect(throws: MP3Error.self) { try MP3Encoder(sampleRate: 96_000, channelCount: 2) }
        #expect(throws: AudioFileError.diskFull(path: "/dev/full")) {
            let writer = try MP3FileWriter(path: "/dev/full", format: AudioFormat(sampleRate: 48_000, channelCount: 1))
            try writer.write(sound.channels, frameCount: 48_000)
        }
    }

    @Test("NaN, infinite and huge samples do not damage the rest of the file", arguments: [Float.nan, .infinity, 1e30])
    func noSignal(value: Float) throws {
        let folder = try Folder()
        let path = folder.path("a.mp3")
        let sound = tone(frames: 48_000)
        for i in 10_000..<12_000 { sound.channels[0][i] = value }
        try write(sound, frames: 48_000, rate: 48_000, to: path, bitRate: .constant(320))
        let heard = try contents(path)[0]
        #expect(heard.count == 48_000)
        #expect(errorDecibels(Array(heard[20_000..<40_000]), samples(sound, 0, 20_000..<40_000)) < -40)
    }

    private func noise(_ frames: Int) -> AudioBuffer {
        var random = SeededRandom(seed: 5)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for c in 0..<2 { for i in 0..<frames { buffer.channels[c][i] = Float.random(in: -0.3...0.3, using: &random) } }
        return buffer
    }
}
