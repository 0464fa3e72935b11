// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@Suite struct AACFileWriterTests {
    private static func name(_ container: AACFileWriter.Container) -> String { container == .m4a ? "a.m4a" : "a.aac" }

    @Test(
        "A closed M4A returns exactly the frames that were written",
        arguments: [(8_000.0, 1), (22_050, 2), (44_100, 1), (48_000, 2), (96_000, 2)])
    func roundTrip(rate: Double, channels: Int) throws {
        let folder = try Folder()
        for frames in rate == 48_000 ? [0, 1, 1_024, 1_025, 40_001] : [40_001] {
            let said = sound(frames: frames, channels: channels, rate: rate, noise: 0.01)
            let path = folder.path("\(frames).m4a")
            let format = AudioFormat(sampleRate: rate, channelCount: channels)
            let writer = try AACFileWriter(path: path, format: format, bitRate: Int(min(96_000, 6 * rate)) * channels)
            try write(said, frames: frames, to: writer)
            try writer.close()
            #expect(writer.frameCount == frames)
            let reader = try ContainerFileReader(path: path)
            #expect(reader.processingFormat == format && reader.frameCount == frames)
            let heard = try contents(reader)
            #expect(heard.count == channels && heard[0].count == frames)
            if frames != 1, frames < 10_000 { continue }  // ffmpeg is slow to start
            let (other, complaints) = try decodedByFFmpeg(path, in: folder)
            #expect(complaints.isEmpty, "\(complaints)")
            // This ffmpeg removes the priming but not the padding.
            #expect(other.count == channels && (frames...frames + 1_024 * 2).contains(other[0].count))
            for c in 0..<channels where frames > 10_000 {
                let inside = 2_000..<frames - 2_000
                #expect(signalToError(heard[c], said, c, inside) > 18)
                #expect(signalToError(other[c], said, c, inside) > 18)
            }
            let probe = try run("ffprobe", "-v", "error", "-show_entries", "stream=duration_ts", "-of", "csv=p=0", path)
            #expect(probe.output.trimmingCharacters(in: .whitespacesAndNewlines) == "\(frames)")
        }
    }

    @Test func `ADTS holds the sound after the encoder's priming`() throws {
        let folder = try Folder()
        let path = folder.path("a.aac")
        let said = sound(frames: 60_001, noise: 0.01)
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), container: .adts, bitRate: 192_000)
        try write(said, frames: 60_001, to: writer)
        let heard = try contents(path)
        let (other, complaints) = try decodedByFFmpeg(path, in: folder)
        #expect(complaints.isEmpty, "\(complaints)")
        #expect(heard[0].count % 1_024 == 0 && (60_001 + 1_024..<60_001 + 3_072).contains(heard[0].count))
        #expect(other[0].count == heard[0].count)
        for c in 0..<2 { #expect(signalToError(Array(heard[c].dropFirst(1_024)), said, c, 2_000..<58_000) > 18) }
    }

    @Test(
        "Actual bit rates are within 15% of the requested ones", arguments: AACFileWriter.Container.allCases,
        [64_000, 320_000])
    func bitRates(container: AACFileWriter.Container, bitRate: Int) throws {
        let folder = try Folder()
        let path = folder.path(Self.name(container))
        let said = sound(frames: 240_000, noise: 0.2)
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), container: container, bitRate: bitRate
        )
        try writer.write(said.channels, frameCount: 240_000)
        try writer.close()
        let ratio = Double(try bytes(path).count) * 8 / 5 / Double(bitRate)
        #expect((0.85...1.15).contains(ratio), "\(ratio)")
    }

    @Test(
        "Unsupported sample rates are converted to supported ones",
        arguments: [(37_800.0, 44_100.0), (192_000, 96_000), (176_400, 88_200)])
    func converted(rate: Double, fileRate: Double) throws {
        let folder = try Folder()
        let path = folder.path("a.m4a")
        let said = sound(frames: 40_001, rate: rate, noise: 0)
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: rate, channelCount: 2), bitRate: 192_000)
        try write(said, frames: 40_001, to: writer)
        #expect(writer.fileSampleRate == fileRate)
        let heard = try contents(path)
        let frames = Int((40_001 * fileRate / rate).rounded())
        #expect(heard[0].count == frames)
        let expected = sound(frames: frames, rate: fileRate, noise: 0)
        #expect(signalToError(heard[1], expected, 1, 3_000..<frames - 3_000) > 18)
    }

    @Test func `a new file is private, and an overwritten file is truncated and keeps its mode`() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let old = try folder.file("old.m4a", [UInt8](repeating: 1, count: 100_000))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: old)
        for (path, mode) in [(folder.path("new.m4a"), 0o600), (old, 0o644)] {
            try AACFileWriter(path: path, format: format).close()
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
            #expect(try bytes(path).count < 2_000)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
    }

    /// Returns the priming frames that FFmpeg decoded. In a fragmented file FFmpeg 5 keeps them and FFmpeg 7 drops them.
    private static func lateness(of heard: [Float], behind said: AudioBuffer, _ channel: Int) -> Int {
        let ratios = [0, 1_024].map { late in
            (late, signalToError(Array(heard.dropFirst(late)), said, channel, 2_000..<14_000))
        }
        return ratios[0].1 > ratios[1].1 ? 0 : 1_024
    }

    @Test func `an unclosed M4A is playable at every moment, by our reader and by ffmpeg`() throws {
        let folder = try Folder()
        let path = folder.path("live.m4a")
        let said = sound(frames: 48_000 * 3, noise: 0.01)
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), bitRate: 192_000)
        for second in 1...3 {
            for block in 0..<100 {
                try writer.write(said.channels, frameCount: 480, offset: (second - 1) * 48_000 + block * 480)
            }
            // A copy is the file that a kill at this time would leave.
            let copy = folder.path("copy\(second).m4a")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            let heard = try contents(copy)
            let (other, complaints) = try decodedByFFmpeg(copy, in: folder)
            #expect(complaints.isEmpty, "\(complaints)")
            for (sound, late) in [(heard, 0), (other, Self.lateness(of: other[1], behind: said, 1))] {
                let sound = sound.map { Array($0.dropFirst(late)) }
                #expect(sound[0].count > 48_000 * second - 32_000 && sound[0].count <= 48_000 * second)
                #expect(signalToError(sound[1], said, 1, 2_000..<sound[1].count - 2_000) > 18)
            }
        }
    }

    @Test func `killing the process while a file is being closed leaves a playable file`() throws {
        let folder = try Folder()
        let path = folder.path("a.m4a")
        let said = sound(frames: 100_000)
        let writer = try AACFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2))
        try writer.write(said.channels, frameCount: 100_000)
        try writer.close()
        let closed = try bytes(path)
        // Before the last write, the box after `ftyp` was `free`.
        let head = Int(closed[3])
        var open = closed
        open.replaceSubrange(
            head..<head + 16, with: [0, 0, 0, 16] + Array("free".utf8) + [UInt8](repeating: 0, count: 8))
        let mdat = closed[head + 8..<head + 16].reduce(0) { $0 << 8 | Int($1) }
        let movie = head + mdat
        #expect(closed[movie + 4..<movie + 8].elementsEqual("moov".utf8))
        for end in [
            movie, movie + 1, movie + 8, movie + 100, (movie + closed.count) / 2, closed.count - 1, closed.count,
        ] {
            let cut = try folder.file("cut\(end).m4a", Array(open[..<end]))
            let heard = try contents(cut)
            #expect((99_000...102_400).contains(heard[0].count), "\(heard[0].count) up to byte \(end)")
            if [movie + 1, (movie + closed.count) / 2, closed.count].contains(end) {
                let other = try decodedByFFmpeg(cut, in: folder).heard
                #expect(other.count == 2 && other[0].count > 99_000, "up to byte \(end)")
            }
        }
    }

    @Test("A killed recorder leaves a playable file", arguments: AACFileWriter.Container.allCases)
    func aKilledRecorderLeavesAFileThatPlays(container: AACFileWriter.Container) throws {
        let folder = try Folder()
        let path = folder.path(Self.name(container))
        let told = folder.path("told")
        let child = try ChildProcess(
            [
                CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter",
                "AACFileWriterTests/recordUntilKilled",
            ], environment: ["EARSHOT_TEST_RECORD_TO": path], standardOutput: told)
        var written = 0
        for _ in 0..<1_000 where written < 200_000 {
            usleep(10_000)
            let text = (try? String(contentsOfFile: told, encoding: .utf8)) ?? ""
            written =
                text.split(separator: "\n").filter { $0.hasPrefix("wrote ") }.last.flatMap { Int($0.dropFirst(6)) } ?? 0
        }
        child.signal(SIGKILL)
        #expect(child.wait() == .signal(SIGKILL))
        #expect(written >= 200_000)
        let said = sound(frames: 48_000, noise: 0.01)
        let other = try decodedByFFmpeg(path, in: folder).heard
        let late = Self.lateness(of: other[0], behind: said, 0)
        for (heard, late) in [(try contents(path), container == .m4a ? 0 : 1_024), (other, late)] {
            #expect(heard[0].count > written - 48_000)
            #expect(signalToError(Array(heard[0].dropFirst(late)), said, 0, 2_000..<46_000) > 18)
        }
    }

    /// The other half of the previous test.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_TO"] != nil))
    func recordUntilKilled() throws {
        let path = try #require(ProcessInfo.processInfo.environment["EARSHOT_TEST_RECORD_TO"])
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2),
            container: path.hasSuffix("aac") ? .adts : .m4a, bitRate: 192_000)
        let said = sound(frames: 48_000, noise: 0.01)
        while true {
            for block in 0..<100 {
                try writer.write(said.channels, frameCount: 480, offset: block * 480)
                let line = Array("wrote \(writer.frameCount)\n".utf8)
                _ = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
                usleep(500)
            }
        }
    }

    @Test("A file on a full disk keeps the sound written so far", arguments: AACFileWriter.Container.allCases)
    func fullDisk(container: AACFileWriter.Container) throws {
        guard let disk = SmallDisk(kilobytes: 64) else { try Test.cancel("mounting a small disk needs root") }
        let path = disk.path + "/" + Self.name(container)
        let said = sound(frames: 48_000, noise: 0.2)
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), container: container, bitRate: 320_000
        )
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<10 { try writer.write(said.channels, frameCount: 48_000) }
        }
        #expect(throws: AudioFileError.closed(path: path)) { try writer.write(said.channels, frameCount: 1) }
        try writer.close()
        let heard = try contents(path)
        #expect(heard[0].count > 48_000)
        let folder = try Folder()
        #expect(try decodedByFFmpeg(path, in: folder).heard[0].count > 48_000)
    }

    @Test func `unusable paths and formats give an error with the reason`() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let lost = folder.path("none/a.m4a")
        #expect(throws: AudioFileError.missingFolder(path: lost)) { try AACFileWriter(path: lost, format: format) }
        #expect(throws: AudioFileError.diskFull(path: "/dev/full")) {
            try AACFileWriter(path: "/dev/full", format: format)
        }
        // Only root can become a user without permission.
        if geteuid() == 0, let symbol = dlsym(nil, "setfsuid") {
            chmod(folder.url.path, 0o500)
            let setFileUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
            _ = setFileUser(65_534)  // this thread's alone
            defer { _ = setFileUser(0) }
            let denied = folder.path("denied.m4a")
            #expect(throws: AudioFileError.notPermitted(path: denied)) {
                try AACFileWriter(path: denied, format: format)
            }
        }
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: AudioFileError.notRegular(path: pipe)) { try AACFileWriter(path: pipe, format: format) }
        for (channels, bitRate) in [(3, 192_000), (2, 16_000), (2, 3_200_000)] {
            let path = folder.path("a.m4a")
            let error = #expect(throws: AudioFileError.self) {
                try AACFileWriter(
                    path: path, format: AudioFormat(sampleRate: 48_000, channelCount: channels), bitRate: bitRate)
            }
            guard case .unsupportedFormat? = error else { Issue.record("\(String(describing: error))"); continue }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let writer = try AACFileWriter(path: folder.path("b.m4a"), format: format)
        try writer.close()
        #expect(throws: AudioFileError.closed(path: folder.path("b.m4a"))) { try writer.writeSilence(frameCount: 1) }
    }

    @Test("NaN, infinite and huge samples do not affect the rest of the file", arguments: [Float.nan, .infinity, 1e30])
    func noSignal(value: Float) throws {
        let folder = try Folder()
        let path = folder.path("a.m4a")
        let said = sound(frames: 48_000)
        for i in 10_000..<12_000 { said.channels[0][i] = value }
        let writer = try AACFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), bitRate: 192_000)
        try write(said, frames: 48_000, to: writer)
        let heard = try contents(path)[0]
        #expect(heard.count == 48_000 && heard.allSatisfy { $0.isFinite })
        #expect(signalToError(heard, said, 0, 20_000..<40_000) > 15)
    }
}
