// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// All kinds that can be written.
let writableKinds = ["wav", "aiff", "caf", "flac", "ogg", "opus", "mp3"]

@Suite struct FileKindTests {
    private func write(
        _ sound: AudioBuffer, _ frames: Int, rate: Double, to path: String,
        sampleFormat: AudioFileWriter.SampleFormat = .float32, bitRate: MP3Encoder.BitRate? = nil
    ) throws {
        let format = AudioFormat(sampleRate: rate, channelCount: sound.channels.count)
        let writer = try makeWriter(path, format, sampleFormat: sampleFormat, bitRate: bitRate)
        var at = 0
        for block in [1, 63, 1152, 480, 5000, frames] {
            let count = min(block, frames - at)
            try writer.write(sound.channels, frameCount: count, offset: at)
            at += count
        }
        try writer.close()
        #expect(writer.frameCount == frames)
    }

    @Test(arguments: writableKinds, [1, 2])
    func `a round trip preserves the number of frames and the sound`(_ kind: String, _ channels: Int) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        for frames in [5_761, 40_001, 48_000] {
            let sound = tone(frames: frames, channels: channels)
            try write(sound, frames, rate: 48_000, to: path)
            let reader = try AudioFileReader(path: path)
            #expect(reader.frameCount == frames)
            let heard = try contents(path)
            #expect(heard[0].count == frames)
            for c in 0..<channels {
                let inside = 2_400..<frames - 2_400
                let limits: [String: Double] = ["ogg": -28, "opus": -22, "mp3": -35]
                let most = limits[kind] ?? -138
                let error = errorDecibels(Array(heard[c][inside]), samples(sound, c, inside))
                #expect(error < most, "\(kind), \(frames) frames: \(error) dB")
            }
            // Another program, which starts slowly, finds the same number of frames.
            if frames != 40_001 { continue }
            let raw = folder.path("a.raw")
            // (ffmpeg 5.1 cuts 128 frames off some Vorbis files, even oggenc's own.)
            let run =
                kind == "ogg"
                ? try run("sox", path, "-t", "f32", raw)
                : try run("ffmpeg", "-v", "error", "-y", "-i", path, "-f", "f32le", raw)
            #expect(run.status == 0 && run.output.isEmpty, "\(run.output)")
            let size = try FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int
            #expect(size == frames * channels * 4, "\(kind)")
        }
    }

    @Test(arguments: ["wav", "aiff", "caf", "flac"], AudioFileWriter.SampleFormat.allCases)
    func `lossless formats are bit-exact`(
        _ kind: String, _ sampleFormat: AudioFileWriter.SampleFormat
    ) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        var random = SeededRandom(seed: 3)
        let frames = 20_000
        let sound = AudioBuffer(channelCount: 2, frameCapacity: frames)
        let scale: Float = sampleFormat == .int16 ? 0x1p15 : 0x1p23
        for c in 0..<2 {
            for i in 0..<frames {
                let whole = Float.random(in: -1...1, using: &random) * scale
                sound.channels[c][i] = min(whole.rounded(), scale - 1) / scale
            }
        }
        sound.channels[0][0] = -1
        sound.channels[0][1] = (scale - 1) / scale
        try write(sound, frames, rate: 44_100, to: path, sampleFormat: sampleFormat)
        let heard = try contents(path)
        for c in 0..<2 { #expect(heard[c] == samples(sound, c, 0..<frames)) }
    }

    @Test(arguments: ["wav", "aiff", "caf", "flac"])
    func `integer samples are rounded, not truncated`(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: 1_000)
        for i in 0..<1_000 { sound.channels[0][i] = (Float(i - 500) + 0.4) / 8_388_608 }
        try write(sound, 1_000, rate: 48_000, to: path, sampleFormat: .int24)
        let heard = try contents(path)[0]
        #expect((0..<1_000).allSatisfy { heard[$0] == Float($0 - 500) / 8_388_608 })
        // Samples of 16 bits are dithered: their mean shows it.
        for i in 0..<1_000 { sound.channels[0][i] = (Float(i - 500) + 0.4) / 32_768 }
        try write(sound, 1_000, rate: 48_000, to: path, sampleFormat: .int16)
        let dithered = try contents(path)[0]
        let errors = (0..<1_000).map { Double(dithered[$0] - sound.channels[0][$0]) * 32_768 }
        #expect(abs(errors.reduce(0, +) / 1_000) < 0.1 && errors.allSatisfy { abs($0) <= 1.501 })
    }

    @Test(arguments: [
        ("opus", 44_100.0, 48_000.0), ("opus", 22_050, 24_000), ("opus", 96_000, 48_000), ("ogg", 352_800, 44_100),
    ])
    func `rates that a format does not support are converted`(_ kind: String, _ rate: Double, _ fileRate: Double) throws
    {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        let sound = tone(frames: 30_001, channels: 2, rate: rate)
        try write(sound, 30_001, rate: rate, to: path, bitRate: kind == "opus" ? .constant(256) : .variable(1))
        let heard = try contents(path)
        let frames = Int((30_001 * fileRate / rate).rounded())
        #expect(try AudioFileReader(path: path).processingFormat.sampleRate == fileRate)
        #expect(heard[0].count == frames)
        let expected = tone(frames: frames, channels: 2, rate: fileRate)
        let inside = 1_000..<frames - 1_000
        #expect(errorDecibels(Array(heard[1][inside]), samples(expected, 1, inside)) < -22)
    }

    @Test(arguments: [
        ("opus", 2, MP3Encoder.BitRate.constant(600)), ("opus", 1, .constant(5)), ("opus", 2, .variable(2)),
        ("ogg", 2, .constant(600)), ("ogg", 2, .variable(10)), ("ogg", 3, .variable(2)), ("flac", 9, .variable(2)),
    ])
    func `settings that a format does not support are rejected before the file is created`(
        _ kind: String, _ channels: Int, _ bitRate: MP3Encoder.BitRate
    ) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        let format = AudioFormat(sampleRate: 48_000, channelCount: channels)
        let error = #expect(throws: AudioFileError.self) {
            try makeWriter(path, format, bitRate: bitRate)
        }
        guard case .unsupportedFormat? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `bit rates and compression levels are those requested`() throws {
        let folder = try Folder()
        var random = SeededRandom(seed: 5)
        let frames = 240_000
        let noise = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for c in 0..<2 { for i in 0..<frames { noise.channels[c][i] = .random(in: -0.3...0.3, using: &random) } }
        for kilobits in [64, 128, 256] {
            let path = folder.path("\(kilobits).opus")
            try write(noise, frames, rate: 48_000, to: path, bitRate: .constant(kilobits))
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            #expect(abs(Double(size) * 8 / 5_000 / Double(kilobits) - 1) < 0.15, "\(size) bytes at \(kilobits) kb/s")
        }
        let song = tone(frames: frames, channels: 2)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        var sizes: [Int] = []
        for level in [0, 8] {
            let path = folder.path("\(level).flac")
            let writer = try AudioFileWriter(path: path, format: format, compressionLevel: level)
            try writer.write(song.channels, frameCount: frames)
            try writer.close()
            sizes.append(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
            #expect(try AudioFileReader(path: path).frameCount == frames)
        }
        #expect(sizes[1] < sizes[0])
    }

    @Test(arguments: ["wav", "aiff", "caf", "flac", "ogg", "opus"])
    func `a file cut short by a full disk stays playable`(_ kind: String) throws {
        let disk = try SmallDisk(kilobytes: 128)
        let path = disk.path + "/a." + kind
        var random = SeededRandom(seed: 5)
        let frames = 48_000
        let sound = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for c in 0..<2 { for i in 0..<frames { sound.channels[c][i] = .random(in: -0.3...0.3, using: &random) } }
        let writer = try makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: 2))
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<40 { try writer.write(sound.channels, frameCount: frames, offset: 0) }
        }
        #expect(throws: AudioFileError.closed(path: path)) {
            try writer.write(sound.channels, frameCount: 1, offset: 0)
        }
        let reader = try AudioFileReader(path: path)
        let heard = try contents(path)[0]
        #expect(heard.count == reader.frameCount && heard.count > 10_000, "\(heard.count)")
        #expect(heard.count <= writer.frameCount)
        if kind != "ogg", kind != "opus" { #expect(heard.count == writer.frameCount) }
        let probe = try run("ffmpeg", "-v", "error", "-i", path, "-f", "null", "-")
        #expect(probe.status == 0 && probe.output.isEmpty, "\(kind): \(probe.output)")
    }

    @Test(arguments: writableKinds)
    func `a killed recorder leaves a playable file`(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("killed." + kind)
        let child = try ChildProcess(
            [
                CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter",
                "FileKindTests/recordUntilKilled",
            ], environment: ["EARSHOT_TEST_RECORD_KIND": path])
        // The process reports how many frames it has written.
        let count = path + ".count"
        var written = 0
        for _ in 0..<12_000 where written < 5 * 24_000 {
            usleep(5_000)
            written = (try? String(contentsOfFile: count, encoding: .utf8)).flatMap { Int($0) } ?? written
        }
        child.signal(SIGKILL)
        #expect(child.wait() == .signal(SIGKILL))
        written = (try? String(contentsOfFile: count, encoding: .utf8)).flatMap { Int($0) } ?? written
        #expect(written >= 5 * 24_000)
        let heard = try contents(path)
        #expect(
            heard[0].count > written - 48_000 && heard[0].count <= written + 48_000 / 5,
            "\(heard[0].count) of \(written)")
        #expect(sineDefect(Array(heard[0][24_000..<60_000]), frequency: 997, rate: 48_000) < -20)
        let raw = folder.path("a.raw")
        let decoded = try run("ffmpeg", "-v", "error", "-y", "-i", path, "-f", "f32le", raw)
        #expect(decoded.status == 0, "\(decoded.output)")
        let size = try FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int ?? 0
        #expect(size / 8 > written - 48_000, "ffmpeg: \(size / 8) of \(written)")
        if ["mp3", "caf", "opus"].contains(kind) { return }  // not in every sox
        let sox = try run("sox", path, "-t", "f32", raw)
        #expect(sox.status == 0, "\(sox.output)")
        let heardBySox = try FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int ?? 0
        #expect(heardBySox / 8 > written - 48_000, "sox: \(heardBySox / 8) of \(written)")
    }

    /// The other half of the previous test.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_KIND"] != nil))
    func recordUntilKilled() throws {
        let path = try #require(ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_KIND"])
        let writer = try makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: 2))
        let sound = tone(frames: 48_000, channels: 2)
        while true {
            for block in 0..<20 {
                try writer.write(sound.channels, frameCount: 2_400, offset: block * 2_400)
                try "\(writer.frameCount)".write(toFile: path + ".count", atomically: true, encoding: .utf8)
                usleep(500)
            }
        }
    }

    @Test func `near-silent Vorbis is written within a second`() throws {
        let folder = try Folder()
        let path = folder.path("quiet.ogg")
        let sound = tone(frames: 44_100, channels: 1, rate: 44_100, gain: 1e-6)
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        for second in 1...12 {
            for block in 0..<20 { try writer.write(sound.channels, frameCount: 2_205, offset: block * 2_205) }
            // A copy is the file that a kill at this time would leave.
            let copy = folder.path("copy.ogg")
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            let heard = try contents(copy)[0].count
            #expect(heard > second * 44_100 - 22_050 && heard <= second * 44_100, "\(heard) after \(second) s")
        }
        try writer.close()
        #expect(try AudioFileReader(path: path).frameCount == 12 * 44_100)
        let check = try run("ogginfo", path)
        #expect(check.status == 0 && !check.output.contains("WARN"), "\(check.output)")
    }

    @Test func `a truncated FLAC or Ogg file has the length of its intact part`() throws {
        let folder = try Folder()
        var random = SeededRandom(seed: 5)
        let sound = AudioBuffer(channelCount: 2, frameCapacity: 96_000)
        for c in 0..<2 { for i in 0..<96_000 { sound.channels[c][i] = .random(in: -0.3...0.3, using: &random) } }
        for kind in ["flac", "ogg", "opus"] {
            let path = folder.path("whole." + kind)
            try write(sound, 96_000, rate: 48_000, to: path)
            var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            if kind == "flac" { bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0]) }  // a pipe's length: unknown
            for part in [1.0, 0.9, 0.613, 0.5] {
                let cut = folder.path("cut." + kind)
                try Data(bytes.prefix(Int(Double(bytes.count) * part))).write(to: URL(filePath: cut))
                let reader = try AudioFileReader(path: cut)
                let heard = try contents(cut)
                #expect(heard[0].count == reader.frameCount, "\(kind) to \(part)")
                #expect(
                    abs(Double(reader.frameCount) / 96_000 - part) < 0.15, "\(kind) to \(part): \(reader.frameCount)")
                try reader.seek(to: reader.frameCount / 2)
                #expect(reader.framePosition == reader.frameCount / 2)
            }
        }
    }

    @Test func `Broadcast WAV and RF64 are read`() throws {
        let folder = try Folder()
        let sound = tone(frames: 10_000, channels: 2)
        let wav = folder.path("a.wav")
        try write(sound, 10_000, rate: 48_000, to: wav)
        let bext = folder.path("b.wav")
        let run1 = try run(
            "ffmpeg", "-v", "error", "-i", wav, "-c:a", "pcm_s24le", "-write_bext", "1", "-metadata",
            "time_reference=172800000", "-metadata", "originator=Earshot", bext)
        #expect(run1.status == 0, "\(run1.output)")
        let info = try AudioFileInfo(path: bext)
        #expect(info.timeReference == 172_800_000 && info.container == "Broadcast WAV" && info.bitDepth == 24)
        #expect(errorDecibels(try contents(bext)[1], samples(sound, 1, 0..<10_000)) < -130)
        let rf64 = folder.path("c.wav")
        let run2 = try run("ffmpeg", "-v", "error", "-i", wav, "-c:a", "pcm_f32le", "-rf64", "always", rf64)
        #expect(run2.status == 0, "\(run2.output)")
        #expect(try AudioFileType(contentsOf: rf64) == .rf64)
        #expect(try contents(rf64)[0] == samples(sound, 0, 0..<10_000))
    }

    /// Writes 4.3 GB twice to the disk, so it runs only on request.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_LONG_FILES"] != nil))
    func aWAVPassesFourGibibytes() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/earshot-long-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let format = AudioFormat(sampleRate: 192_000, channelCount: 2)
        let frames = 1 << 20
        let block = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for c in 0..<2 { for i in 0..<frames { block.channels[c][i] = Float(c) / 2 } }
        let path = folder + "/long.wav"
        let writer = try AudioFileWriter(path: path, format: format)
        for n in 0..<520 {
            try writer.write(block.channels, frameCount: frames)
            if n == 500 { #expect(try AudioFileType(contentsOf: path) == .wav) }
        }
        try writer.close()
        #expect(try AudioFileType(contentsOf: path) == .rf64)
        let reader = try AudioFileReader(path: path)
        #expect(reader.frameCount == 520 * frames)
        try reader.seek(to: 519 * frames + 5)
        let part = AudioBuffer(channelCount: 2, frameCapacity: 10)
        #expect(try reader.read(into: part.channels, frameCount: 10) == 10)
        #expect(part.channels[1][3] == 0.5)
        let probe = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,codec_tag,duration_ts", "-of", "csv=p=0", path
        )
        #expect(probe.output == "pcm_f32le,0x0003,\(520 * frames)\n", "\(probe.output)")
        try FileManager.default.removeItem(atPath: path)
        let plain = try AudioFileWriter(path: folder + "/plain.wav", format: format, type: .wav)
        #expect(throws: AudioFileError.tooLong(path: plain.path)) {
            for _ in 0..<520 { try plain.write(block.channels, frameCount: frames) }
        }
        #expect(try AudioFileReader(path: plain.path).frameCount == plain.frameCount)
    }
}
