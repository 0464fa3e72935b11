// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Files that are truncated, contradictory or not sound: a clear error that names the file, or the sound that exists.
@Suite struct OddFileTests {
    /// Opens and reads a file; returns the number of frames. An error must name the file and say what to do.
    @discardableResult
    private func use(_ path: String) throws -> Int {
        var frames = 0
        do throws(AudioFileError) {
            let reader = try SoundFiles.open(path)
            let channels = reader.processingFormat.channelCount
            let block = AudioBuffer(channelCount: channels, frameCapacity: 4_096)
            while true {
                let got = try reader.read(into: block.channels, frameCount: 4_096)
                frames += got
                for c in 0..<channels { for i in 0..<got where !block.channels[c][i].isFinite { Issue.record() } }
                if got < 4_096 { return frames }
            }
        } catch {
            #expect(error.description.hasPrefix(path + ": ") && !error.description.contains("\n"), "\(error)")
            return frames
        }
    }

    private static let kinds: [AudioFileType] = [
        .wav, .rf64, .aiff, .caf, .flac, .vorbis, .opus, .mp3, .m4a, .adts,
    ]

    @Test("Truncated files of every type give a clear error or the remaining sound", arguments: kinds)
    func cut(type: AudioFileType) throws {
        let folder = try Folder()
        let whole = folder.path("whole")
        let said = sound(frames: 6_000)
        let settings = SoundFiles.Settings(sampleFormat: .int16)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(said, frames: 6_000, to: SoundFiles.create(whole, type: type, format: format, settings: settings))
        let all = try bytes(whole)
        let length = try use(whole)
        for end in Array(0..<min(120, all.count)) + stride(from: 120, to: all.count, by: max(1, all.count / 40)) {
            let frames = try use(folder.file("cut", Array(all[..<end])))
            #expect((0...length + 4_096).contains(frames), "cut to \(end) of \(all.count) bytes: \(frames)")
        }
    }

    /// A WAVE file with these header values.
    private func wave(
        tag: Int = 1, channels: Int = 2, rate: Int = 48_000, align: Int? = nil, bits: Int = 16, format: Int = 16,
        between: [UInt8] = [], data: Int = 400, riff: Int? = nil, sound: Int = 400
    ) -> [UInt8] {
        func little(_ value: Int, _ count: Int = 4) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let align = align ?? channels * bits / 8
        let chunks =
            Array("WAVEfmt ".utf8) + little(format) + little(tag, 2) + little(channels, 2) + little(rate)
            + little(rate * align) + little(align, 2) + little(bits, 2) + between + Array("data".utf8) + little(data)
            + [UInt8](repeating: 7, count: sound)
        return Array("RIFF".utf8) + little(riff ?? chunks.count) + chunks
    }

    @Test(.separate) func `a WAVE header with false values is read safely`() throws {
        let folder = try Folder()
        func frames(_ bytes: [UInt8]) throws -> Int { try use(folder.file("a.wav", bytes)) }
        #expect(try frames(wave()) == 100)
        // A killed program, or one that wrote to a pipe, leaves these: the sound is everything after the header.
        for data in [0xFFFF_FFFF, 0x7FFF_FFFF, 401, 100_000] { #expect(try frames(wave(data: data)) == 100, "\(data)") }
        for riff in [0, 4, 0xFFFF_FFFF] { #expect(try frames(wave(riff: riff)) == 100, "\(riff)") }
        #expect(try frames(wave(data: 0)) <= 100)
        #expect(try frames(wave(data: 200)) == 50)
        let before = ProcessFootprint.now().anonymousBytes
        let chunk = { (size: [UInt8]) in Array("LIST".utf8) + size + Array("INFO".utf8) }
        for bad in [
            wave(channels: 0), wave(rate: 0), wave(channels: 65_535), wave(rate: 0xFFFF_FFFF), wave(align: 0, bits: 0),
            wave(tag: 0x50), wave(tag: 0x7777), wave(bits: 255), wave(format: 0), wave(format: 0xFFFF_FFFF),
            wave(between: chunk([0xFF, 0xFF, 0xFF, 0xFF])), wave(between: chunk([0, 0, 0, 0x80])),
            Array(wave().prefix(36)), Array(wave().prefix(12)),
        ] { #expect(try frames(bad) <= 400) }
        for n in 12..<44 {
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var bytes = wave()
                bytes[n] = value
                #expect(try frames(bytes) <= 400)
            }
        }
        #expect(ProcessFootprint.now().anonymousBytes - before < 50_000_000)
        let zero = try folder.file("zero.wav", wave(channels: 0))
        let error = #expect(throws: AudioFileError.self) { try SoundFiles.open(zero) }
        #expect(error?.description.contains("zero.wav") == true)
    }

    @Test func `an error names the offending byte or what the file contains`() throws {
        let folder = try Folder()
        var noFormat = wave()
        noFormat.replaceSubrange(12..<16, with: Array("junk".utf8))
        for (bytes, words) in [
            (noFormat, "sound before its format at byte 36"), (wave(tag: 0x7777), "at byte 12"),
            (Array("<!DOCTYPE html><html><head></head></html>".utf8), "it contains a web page (HTML)"),
            (Array("dear diary, today I sang a duet with you".utf8), "it contains text"),
            (Array("The free text of a song".utf8), "it contains text"), (Array("a=1\n".utf8), "it contains text"),
            (Array("%PDF-1.7".utf8) + [UInt8](repeating: 1, count: 99), "it contains a PDF document"),
            ([], "it is empty"),
        ] {
            let path = try folder.file("a.mp3", bytes)
            let error = #expect(throws: AudioFileError.self) { try SoundFiles.open(path) }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test(.separate) func `tags that claim billions of bytes are ignored`() throws {
        let folder = try Folder()
        let before = ProcessFootprint.now().anonymousBytes
        let tag = Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F]
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0xC4] + [UInt8](repeating: 0, count: 413)
        let page = Array("OggS".utf8) + [0, 2] + [UInt8](repeating: 0, count: 20) + [255]
        for bytes in [tag, tag + frame + frame, tag + tag + frame, Array(repeating: tag, count: 5_000).flatMap { $0 }]
            + [page, page + [UInt8](repeating: 0xFF, count: 255), Array(repeating: page, count: 2_000).flatMap { $0 }]
        {
            let path = try folder.file("a.mp3", bytes)
            try use(path)
            _ = try? AudioFileTags(path: path)
            _ = try? SoundFiles.info(path)
        }
        #expect(ProcessFootprint.now().anonymousBytes - before < 50_000_000)
    }

    @Test func `folders, pipes and devices are rejected at once`() throws {
        let folder = try Folder()
        let pipe = folder.path("pipe.wav")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", "/dev/full", "/dev/null"] {
            #expect(throws: AudioFileError.notRegular(path: path)) { try SoundFiles.open(path) }
            #expect(throws: AudioFileError.notRegular(path: path)) { try AudioFileTags(path: path) }
        }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) { try SoundFiles.open(folder.url.path) }
        let zeros = try folder.file("zeros", [UInt8](repeating: 0, count: 3_000_000))
        let error = #expect(throws: AudioFileError.self) { try SoundFiles.open(zeros) }
        guard case .notAudio? = error else { Issue.record("\(String(describing: error))"); return }
    }

    @Test("Every writer reports a full disk and keeps the sound already written", arguments: kinds)
    func fullDisk(type: AudioFileType) throws {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let said = sound(frames: 48_000, noise: 0.3)
        #expect(throws: AudioFileError.diskFull(path: "/dev/full")) {
            let writer = try SoundFiles.create("/dev/full", type: type, format: format)
            for _ in 0..<4 { try writer.write(said.channels, frameCount: 48_000, offset: 0) }
            try writer.close()
        }
        guard let disk = SmallDisk(kilobytes: 96) else { try Test.cancel("mounting a small disk needs root") }
        let path = disk.path + "/a"
        let writer = try SoundFiles.create(path, type: type, format: format)
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<60 { try writer.write(said.channels, frameCount: 24_000, offset: 0) }
        }
        #expect(throws: AudioFileError.closed(path: path)) {
            try writer.write(said.channels, frameCount: 1, offset: 0)
        }
        try writer.close()
        #expect(try bytes(path).count > 60_000)
        let heard = try contents(SoundFiles.open(path))[0].count
        #expect(heard > 9_000 && heard <= writer.frameCount + 24_000 + 4_096, "\(heard) of \(writer.frameCount)")
    }

    @Test("Every writer rejects missing folders, directories, pipes and read-only file systems", arguments: kinds)
    func wrongTargets(type: AudioFileType) throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let missing = folder.path("none/a")
        #expect(throws: AudioFileError.missingFolder(path: missing)) {
            try SoundFiles.create(missing, type: type, format: format)
        }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) {
            try SoundFiles.create(folder.url.path, type: type, format: format)
        }
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: AudioFileError.notRegular(path: pipe)) {
            try SoundFiles.create(pipe, type: type, format: format)
        }
        // A read-only file system stops root as well.
        let disk = try #require(SmallDisk(kilobytes: 64), "mounting needs root")
        let path = disk.path + "/a"
        try Data("keep me".utf8).write(to: URL(filePath: path))
        // A program that another test starts may have the file open for a moment.
        func protect() -> Bool { mount("none", disk.path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 }
        var isProtected = protect()
        for _ in 0..<500 where !isProtected && errno == EBUSY {
            usleep(10_000)
            isProtected = protect()
        }
        #expect(isProtected)
        for name in [path, disk.path + "/new"] {
            #expect(throws: AudioFileError.notPermitted(path: name)) {
                try SoundFiles.create(name, type: type, format: format)
            }
        }
        #expect(try bytes(path) == Array("keep me".utf8))
    }

    @Test func `scipy's unusual WAV files are read, or rejected by name`() throws {
        let library = ".build/venv/lib"  // of scripts/test
        let pythons = (try? FileManager.default.contentsOfDirectory(atPath: library)) ?? []
        let found = pythons.map { "\(library)/\($0)/site-packages/scipy/io/tests/data" }
            .first { FileManager.default.fileExists(atPath: $0) }
        guard let found else { try Test.cancel("scripts/test setup brings scipy") }
        let names = try FileManager.default.contentsOfDirectory(atPath: found).filter { $0.hasSuffix(".wav") }
        #expect(names.count > 15)
        // These have 36, 45, 53 or 64 bits, 1,234 Hz, or no sound.
        let refused = ["36bit", "45bit", "53bit", "64bit.", "1234Hz", "no-data", "incomplete-chunk"]
        for name in names {
            let frames = try use("\(found)/\(name)")
            #expect((frames == 0) == refused.contains { name.contains($0) && !name.contains("64bit-float") }, "\(name)")
            // If it is truncated within the sound, the frames before that are read.
            if name.contains("early-eof.wav") { #expect(frames == 236) }
        }
    }
}
