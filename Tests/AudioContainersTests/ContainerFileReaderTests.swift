// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@Suite struct ContainerFileReaderTests {
    private static let inside = 3_000..<30_000

    /// Kinds of files by other programs, and whether they declare the end of the sound.
    private static let kinds: [(name: String, options: [String], gapless: Bool)] = [
        ("a.m4a", ["-c:a", "aac", "-b:a", "192k"], true),
        ("b.m4a", ["-c:a", "alac"], true),
        ("c.mov", ["-c:a", "aac", "-b:a", "192k"], true),
        ("d.mp4", ["-c:a", "aac", "-b:a", "192k", "-movflags", "+faststart"], true),
        ("e.mp4", ["-c:a", "alac", "-movflags", "+frag_keyframe+empty_moov+default_base_moof"], true),
        ("f.aac", ["-c:a", "aac", "-b:a", "192k"], false),
        ("h.mp4", ["-c:a", "libmp3lame", "-b:a", "192k"], true), ("i.mp4", ["-c:a", "flac", "-strict", "-2"], true),
        ("j.mp4", ["-c:a", "libopus", "-b:a", "192k", "-strict", "-2"], true),
        ("k.mp4", ["-c:a", "ac3", "-b:a", "192k"], false),
        ("g.m4a", ["-c:a", "aac", "-b:a", "192k", "-movie_timescale", "48000"], true),
    ]

    @Test("Files written by ffmpeg are read with the exact frame count", arguments: kinds.indices, [33_333, 1_023])
    func ffmpegFiles(kind: Int, frames: Int) throws {
        let (name, options, gapless) = Self.kinds[kind]
        let folder = try Folder()
        let said = sound(frames: frames, noise: 0.01)
        let path = try ffmpegFile(folder, name, said, frames: frames, rate: 48_000, options)
        let reader = try ContainerFileReader(path: path)
        #expect(reader.processingFormat == AudioFormat(sampleRate: 48_000, channelCount: 2))
        if gapless { #expect(reader.frameCount == frames) }
        let heard = try contents(reader)
        #expect(heard[0].count == reader.frameCount)
        if frames < 10_000 { return }  // too short to measure
        let late = name.hasSuffix("aac") ? 1_024 : 0  // ADTS keeps what the encoder put before the sound
        for c in 0..<2 {
            let ratio = signalToError(Array(heard[c].dropFirst(late)), said, c, Self.inside)
            #expect(ratio > (options.contains("alac") ? 85 : 18), "\(name): \(ratio) dB")
        }
    }

    @Test func `a fragmented AAC file is read, including the padding after the sound`() throws {
        let folder = try Folder()
        let said = sound(frames: 33_333)
        let path = try ffmpegFile(
            folder, "a.mp4", said, frames: 33_333, rate: 48_000,
            ["-c:a", "aac", "-b:a", "192k", "-movflags", "+frag_keyframe+empty_moov", "-frag_duration", "200000"])
        let heard = try contents(path)
        #expect((33_333...33_333 + 2_048).contains(heard[0].count))
    }

    @Test(
        "AAC and ALAC files are read at common sample rates and channel counts",
        arguments: [(8_000.0, 1), (22_050, 2), (44_100, 1), (96_000, 2), (48_000, 6)])
    func formats(rate: Double, channels: Int) throws {
        let folder = try Folder()
        let said = sound(frames: 20_000, channels: channels, rate: rate)
        for codec in ["aac", "alac"] {
            let path = try ffmpegFile(folder, "\(codec).m4a", said, frames: 20_000, rate: rate, ["-c:a", codec])
            let reader = try ContainerFileReader(path: path)
            #expect(reader.processingFormat == AudioFormat(sampleRate: rate, channelCount: channels))
            #expect(reader.frameCount == 20_000)
            #expect(try contents(reader)[channels - 1].count == 20_000)
        }
    }

    @Test(
        "Reading after a seek gives the same samples as reading from the start",
        arguments: ["a.m4a", "b.aac", "c.m4a", "d.mp4", "e.mp4", "f.mp4"])
    func seek(name: String) throws {
        let folder = try Folder()
        // AAC needs more than one stretch of decoding.
        let frames = ["c.m4a", "e.mp4", "f.mp4"].contains(name) ? 130_000 : 320_000
        let said = sound(frames: frames, noise: 0.3)  // which the encoder puts down as noise
        let options =
            switch name {
            case "c.m4a": ["-c:a", "alac"]
            case "d.mp4": ["-c:a", "aac", "-b:a", "64k", "-movflags", "+frag_keyframe+empty_moov"]
            case "e.mp4": ["-c:a", "libmp3lame", "-b:a", "128k"]
            case "f.mp4": ["-c:a", "libopus", "-b:a", "128k", "-strict", "-2"]
            default: ["-c:a", "aac", "-b:a", "64k"]
            }
        let path = try ffmpegFile(folder, name, said, frames: frames, rate: 48_000, options)
        let all = try contents(path)
        let total = all[0].count
        let reader = try ContainerFileReader(path: path)
        let part = AudioBuffer(channelCount: 2, frameCapacity: 3_000)
        let stretch = 256 * 1_024
        let targets = [
            0, 1, 1_023, 1_024, 5_000, 123_456, stretch - 1_025, stretch - 1, stretch, 300_001, total - 1, total,
        ].filter { $0 <= total }
        for target in targets + targets.reversed() {
            try reader.seek(to: target)
            #expect(reader.framePosition == min(target, total))
            let got = try reader.read(into: part.channels, frameCount: 3_000)
            #expect(got == min(3_000, total - target))
            var worst: Float = 0
            for c in 0..<2 { for i in 0..<got { worst = max(worst, abs(part.channels[c][i] - all[c][target + i])) } }
            #expect(worst < 1e-4, "\(name), frame \(target): off by \(worst)")
        }
        try reader.seek(to: total + 99)
        #expect(try reader.read(into: part.channels, frameCount: 1) == 0)
    }

    @Test func `decoding in short reads matches ffmpeg's decoding of the whole file`() throws {
        let folder = try Folder()
        let said = sound(frames: 290_000, noise: 0)  // so that no packet has noise in it that a decoder makes up
        let path = folder.path("a.m4a")
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(said, frames: 290_000, to: AACFileWriter(path: path, format: format, bitRate: 320_000))
        let heard = try contents(path)
        let other = try decodedByFFmpeg(path, in: folder).heard
        for c in 0..<2 {
            let worst = zip(heard[c], other[c]).map { abs($0 - $1) }.max() ?? 1
            #expect(heard[c].count == 290_000 && worst < 1e-4, "off by \(worst)")
        }
    }

    @Test("Reading a file in odd-sized pieces gives the same samples as reading it at once", arguments: [3, 1_025])
    func pieces(size: Int) throws {
        let folder = try Folder()
        let said = sound(frames: 9_000)
        let path = try ffmpegFile(folder, "a.m4a", said, frames: 9_000, rate: 48_000, ["-c:a", "aac"])
        let all = try contents(path)
        let reader = try ContainerFileReader(path: path)
        let heard = AudioBuffer(channelCount: 2, frameCapacity: 9_000 + size)
        var at = 0
        while true {
            let got = try reader.read(into: heard.channels, frameCount: size, offset: at)
            at += got
            #expect(reader.framePosition == at)
            if got < size { break }
        }
        #expect(at == 9_000)
        for c in 0..<2 { #expect(samples(heard, c, 0..<9_000) == all[c]) }
    }

    @Test func `ADTS with a leading tag and junk in the middle is read, and the junk is reported`() throws {
        let folder = try Folder()
        let said = sound(frames: 50_000)
        let path = try ffmpegFile(folder, "a.aac", said, frames: 50_000, rate: 48_000, ["-c:a", "aac"])
        let clean = try bytes(path)
        let all = try contents(path)
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 5] + [UInt8](repeating: 0xFF, count: 133)
        #expect(try contents(folder.file("tagged.aac", tag + clean))[0] == all[0])

        // Between two frames: the length shows where the second begins.
        func length(_ at: Int) -> Int {
            Int(clean[at + 3] & 3) << 11 | Int(clean[at + 4]) << 3 | Int(clean[at + 5] >> 5)
        }
        var cut = 0
        for _ in 0..<10 { cut += length(cut) }
        let junk = [UInt8](repeating: 0xFF, count: 1_000)
        let damaged = try folder.file("junk.aac", Array(clean[..<cut]) + junk + clean[cut...])
        let reader = try ContainerFileReader(path: damaged)
        #expect(reader.frameCount == all[0].count)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: reader.frameCount)
        let error = #expect(throws: AudioFileError.self) {
            try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        }
        guard case .damaged(_, let reason)? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(reason.contains("\(cut) to \(cut + 999)"), "\(reason)")
        #expect(reader.framePosition == 10 * 1_024)
        let rest = reader.frameCount - reader.framePosition
        #expect(try reader.read(into: buffer.channels, frameCount: rest, offset: 10 * 1_024) == rest)
        #expect(samples(buffer, 0, 0..<all[0].count) == all[0])
    }

    @Test func `a truncated file gives an error at the place where it ends`() throws {
        let folder = try Folder()
        let said = sound(frames: 100_000)
        let path = try ffmpegFile(
            folder, "a.m4a", said, frames: 100_000, rate: 48_000, ["-c:a", "aac", "-movflags", "+faststart"])
        let all = try contents(path)
        let whole = try bytes(path)
        let reader = try ContainerFileReader(path: folder.file("cut.m4a", Array(whole[..<(whole.count * 2 / 3)])))
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 100_000)
        var at = 0
        let error = #expect(throws: AudioFileError.self) {
            while at < 100_000 { at += try reader.read(into: buffer.channels, frameCount: 512, offset: at) }
        }
        guard case .damaged(_, let reason)? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(reason.contains("byte"), "\(reason)")
        #expect(at > 40_000 && samples(buffer, 1, 0..<at) == Array(all[1][..<at]))
        #expect(try reader.read(into: buffer.channels, frameCount: 512) == 0)
        try reader.seek(to: 0)
        #expect(try reader.read(into: buffer.channels, frameCount: 512) == 512)
    }

    @Test func `a format change in the middle of a file is an error that names the new format`() throws {
        let folder = try Folder()
        let said = sound(frames: 20_000)
        let a = try ffmpegFile(folder, "a.aac", said, frames: 20_000, rate: 48_000, ["-c:a", "aac"])
        let b = try ffmpegFile(folder, "b.aac", said, frames: 20_000, rate: 32_000, ["-c:a", "aac", "-ac", "1"])
        let reader = try ContainerFileReader(path: folder.file("ab.aac", bytes(a) + bytes(b)))
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 60_000)
        let error = #expect(throws: AudioFileError.self) { try reader.read(into: buffer.channels, frameCount: 60_000) }
        guard case .damaged(_, let reason)? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(reason.contains("32000 Hz") && reason.contains("1 channels"), "\(reason)")
    }

    @Test func `missing, empty, non-audio and video files are rejected with the right error`() throws {
        let folder = try Folder()
        let page = Array("<!DOCTYPE html><html><body>404 not found</body></html>".utf8)
        for content in [[], page, [0, 0, 0, 8] + Array("ftyp".utf8), [UInt8](repeating: 0xFF, count: 10_000)] {
            let path = try folder.file("a.m4a", content)
            let error = #expect(throws: AudioFileError.self) { try ContainerFileReader(path: path) }
            guard case .notAudio? = error else { Issue.record("\(String(describing: error))"); continue }
        }
        let missing = folder.path("none.m4a")
        #expect(throws: AudioFileError.missing(path: missing)) { try ContainerFileReader(path: missing) }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) {
            try ContainerFileReader(path: folder.url.path)
        }
        #expect(throws: AudioFileError.notRegular(path: "/dev/zero")) { try ContainerFileReader(path: "/dev/zero") }
        let pipe = folder.path("pipe.m4a")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: AudioFileError.notRegular(path: pipe)) { try ContainerFileReader(path: pipe) }
        // A film without sound.
        let film = folder.path("film.mp4")
        try run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=size=32x32:duration=0.2", "-c:v", "mpeg4", film)
        guard
            case .notAudio? = #expect(throws: AudioFileError.self, performing: { try ContainerFileReader(path: film) })
        else { Issue.record("a film is sound"); return }
    }
}
