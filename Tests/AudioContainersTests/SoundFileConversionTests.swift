// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct SoundFileConversionTests {
    private func makeSource(_ folder: Folder, _ name: String = "source.wav", frames: Int = 3_000) throws -> String {
        let path = folder.path(name)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(sound(frames: frames), frames: frames, to: SoundFiles.create(path, format: format))
        return path
    }

    private func attribute(_ key: FileAttributeKey, _ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[key] as? Int
    }

    @Test func `an output that is a folder, a pipe or a device is rejected and left unchanged`() throws {
        let folder = try Folder()
        let source = try makeSource(folder)
        let manager = FileManager.default
        try manager.createDirectory(atPath: folder.path("folder.wav"), withIntermediateDirectories: false)
        #expect(mkfifo(folder.path("pipe.wav"), 0o600) == 0)
        // Never the device itself, which a failure would remove.
        try manager.createSymbolicLink(atPath: folder.path("device.wav"), withDestinationPath: "/dev/null")
        let errors: [(String, AudioFileError)] = [
            ("folder.wav", AudioFileError.directory(path: folder.path("folder.wav"))),
            ("pipe.wav", AudioFileError.notRegular(path: folder.path("pipe.wav"))),
            ("device.wav", AudioFileError.notRegular(path: folder.path("device.wav"))),
        ]
        for (name, error) in errors {
            #expect(throws: SoundFileConversion.Failure.output(error)) {
                _ = try SoundFileConversion(from: source, to: folder.path(name)).run()
            }
        }
        var status = stat()
        lstat(folder.path("pipe.wav"), &status)
        #expect(status.st_mode & S_IFMT == S_IFIFO)
        #expect(try manager.destinationOfSymbolicLink(atPath: folder.path("device.wav")) == "/dev/null")
        #expect(try manager.contentsOfDirectory(atPath: folder.url.path).count == 4)
    }

    /// The first part of a file of 2 s; the kinds whose index is at the end cannot be opened.
    @Test(arguments: ["wav", "aiff", "caf", "flac", "mp3", "ogg", "opus", "aac"])
    func `a truncated file is converted up to its end, and the damage is reported`(kind: String) throws {
        let folder = try Folder()
        let whole = try makeSource(folder, "whole.\(kind)", frames: 96_000)
        let content = try bytes(whole)
        let part = try folder.file("part.\(kind)", Array(content.prefix(content.count * 6 / 10)))
        let complete = try SoundFileConversion(from: whole, to: folder.path("copy.caf")).run()
        #expect(complete.inputDamage == nil && complete.frameCount > 95_000)
        for loudness in [nil, -23.0] {
            var conversion = SoundFileConversion(from: part, to: folder.path("output.caf"))
            conversion.loudness = loudness
            let result = try conversion.run()
            #expect((30_000..<70_000).contains(result.frameCount), "\(kind): \(result.frameCount)")
            // ADTS has neither a length nor an end.
            #expect((result.inputDamage != nil) == (kind != "aac"), "\(kind)")
            #expect(try SoundFiles.open(folder.path("output.caf")).frameCount == result.frameCount)
        }
    }

    @Test func `an M4A file whose index was cut off is reported as damaged`() throws {
        let folder = try Folder()
        let whole = try bytes(try makeSource(folder, "whole.m4a", frames: 96_000))
        let index = try #require(whole.indices.dropLast(4).last { whole[$0..<$0 + 4].elementsEqual("moov".utf8) })
        let part = try folder.file("part.m4a", Array(whole[..<(index - 4)]))
        let reason = "its index is missing, as in a file that was cut off"
        #expect(throws: SoundFileConversion.Failure.file(.damaged(path: part, reason: reason))) {
            _ = try SoundFileConversion(from: part, to: folder.path("part.caf")).run()
        }
    }

    @Test func `a truncated M4A file with its index at the start is converted up to its last whole packet`() throws {
        let folder = try Folder()
        let whole = try ffmpegFile(
            folder, "whole.m4a", sound(frames: 96_000), frames: 96_000, rate: 48_000,
            ["-c:a", "aac", "-movflags", "+faststart"])
        let content = try bytes(whole)
        let part = try folder.file("part.m4a", Array(content.prefix(content.count * 6 / 10)))
        let reader = try ContainerFileReader(path: part)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 96_000)
        #expect(throws: AudioFileError.self) { try reader.read(into: buffer.channels, frameCount: 96_000) }
        #expect((30_000..<70_000).contains(reader.framePosition))
        let result = try SoundFileConversion(from: part, to: folder.path("part.caf")).run()
        #expect(result.frameCount == reader.framePosition && result.inputDamage != nil)
        let all = try contents(whole)
        #expect(
            try contents(AudioFileReader(path: folder.path("part.caf")))
                == all.map { Array($0.prefix(result.frameCount)) })
    }

    @Test func `sound after a damaged section is converted`() throws {
        let folder = try Folder()
        let whole = try makeSource(folder, "whole.m4a", frames: 96_000)
        var content = try bytes(whole)
        for i in 0..<600 { content[content.count / 2 + i] = UInt8(truncatingIfNeeded: i &* 37) }
        let result = try SoundFileConversion(
            from: try folder.file("damaged.m4a", content), to: folder.path("damaged.caf")
        ).run()
        guard case .damaged = result.inputDamage else {
            Issue.record("\(String(describing: result.inputDamage))")
            return
        }
        #expect(result.frameCount == 96_000)
    }

    @Test func `sound after a damaged section of a FLAC file is converted in its place`() throws {
        let folder = try Folder()
        let whole = try makeSource(folder, "whole.flac", frames: 96_000)
        var content = try bytes(whole)
        for i in 0..<6_000 { content[content.count / 2 + i] = UInt8(truncatingIfNeeded: i &* 37) }
        let damaged = try folder.file("damaged.flac", content)
        let result = try SoundFileConversion(from: damaged, to: folder.path("damaged.caf")).run()
        guard case .damaged = result.inputDamage else {
            Issue.record("\(String(describing: result.inputDamage))")
            return
        }
        #expect(result.frameCount == 96_000)
        let expected = try contents(AudioFileReader(path: whole))
        let heard = try contents(AudioFileReader(path: folder.path("damaged.caf")))
        for c in 0..<2 {
            #expect(heard[c].prefix(30_000) == expected[c].prefix(30_000))
            #expect(heard[c].suffix(30_000) == expected[c].suffix(30_000))
            #expect(heard[c].contains { $0 == 0 }, "the lost sound is silence")
        }
        let reader = try AudioFileReader(path: damaged)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 96_000)
        #expect(throws: AudioFileError.self) { try reader.read(into: block.channels, frameCount: 96_000) }
        try reader.seek(to: 70_000)
        #expect(try reader.read(into: block.channels, frameCount: 1_000) == 1_000)
        #expect(samples(block, 0, 0..<1_000) == Array(expected[0][70_000..<71_000]))
    }

    @Test(arguments: [true, false])
    func `a damaged FLAC file is readable after a seek into the damage, also without a length`(hasLength: Bool) throws {
        let folder = try Folder()
        let whole = try makeSource(folder, "whole.flac", frames: 96_000)
        let expected = try contents(AudioFileReader(path: whole))
        var content = try bytes(whole)
        let middle = content.count / 2
        for i in 0..<6_000 { content[middle + i] = UInt8(truncatingIfNeeded: i &* 37) }
        if !hasLength {
            content[21] &= 0xF0
            for i in 22..<26 { content[i] = 0 }
        }
        let damaged = try folder.file("damaged.flac", content)
        let reader = try AudioFileReader(path: damaged)
        #expect(reader.frameCount == 96_000)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 96_000)
        for frame in stride(from: 40_000, to: 60_000, by: 1_000) {
            try reader.seek(to: frame)
            _ = try? reader.read(into: block.channels, frameCount: 1_000)
        }
        try reader.seek(to: 80_000)
        #expect(try reader.read(into: block.channels, frameCount: 1_000) == 1_000)
        #expect(samples(block, 0, 0..<1_000) == Array(expected[0][80_000..<81_000]))
        let result = try SoundFileConversion(from: damaged, to: folder.path("damaged.caf")).run()
        #expect(result.frameCount == 96_000 && result.inputDamage != nil)
    }

    @Test(arguments: ["flac", "wav", "rf64"])
    func `a file that ends early with a complete frame is reported`(kind: String) throws {
        let folder = try Folder()
        let whole =
            kind == "rf64"
            ? try ffmpegFile(
                folder, "whole.wav", sound(frames: 96_000), frames: 96_000, rate: 48_000,
                ["-rf64", "always", "-c:a", "pcm_f32le"])
            : try makeSource(folder, "whole.\(kind)", frames: 96_000)
        #expect(try SoundFileConversion(from: whole, to: folder.path("whole.caf")).run().inputDamage == nil)
        var content = try bytes(whole)
        if kind == "flac" {
            // The last frame begins with the sync code and its own number.
            let start = try #require(
                content.indices.dropLast(3).last { content[$0] == 0xFF && content[$0 + 1] == 0xF8 })
            content.removeSubrange(start...)
        } else {
            content.removeLast(8 * 30_000)
        }
        let result = try SoundFileConversion(
            from: try folder.file("part.\(kind)", content), to: folder.path("part.caf")
        ).run()
        #expect(result.inputDamage != nil && result.frameCount < 96_000, "\(result.frameCount)")
    }

    @Test func `a FLAC file that is damaged to its end is converted up to the damage`() throws {
        let folder = try Folder()
        var content = try bytes(try makeSource(folder, "whole.flac", frames: 96_000))
        for i in content.count / 2..<content.count { content[i] = UInt8(truncatingIfNeeded: i &* 37) }
        let result = try SoundFileConversion(
            from: try folder.file("damaged.flac", content), to: folder.path("damaged.caf")
        ).run()
        #expect(result.inputDamage != nil && (20_000..<80_000).contains(result.frameCount), "\(result.frameCount)")
    }

    /// A sine below half a step would be silence if it were only rounded.
    @Test(arguments: ["wav", "flac", "aiff"]) func `sound is dithered to 16 bits`(kind: String) throws {
        let folder = try Folder()
        let frames = 48_000
        let tone = AudioBuffer(channelCount: 1, frameCapacity: frames)
        let amplitude = 0.4 / 32_768
        for i in 0..<frames { tone.channels[0][i] = Float(amplitude * sin(2 * .pi * 997 * Double(i) / 48_000)) }
        let source = folder.path("quiet.caf")
        try write(
            tone, frames: frames,
            to: SoundFiles.create(source, format: AudioFormat(sampleRate: 48_000, channelCount: 1)))
        var conversion = SoundFileConversion(from: source, to: folder.path("quiet.\(kind)"))
        conversion.settings.sampleFormat = .int16
        _ = try conversion.run()
        let heard = try contents(AudioFileReader(path: conversion.output))[0]
        var (x, power) = (0.0, 0.0)
        for i in 0..<frames {
            x += Double(heard[i]) * sin(2 * .pi * 997 * Double(i) / 48_000)
            power += Double(heard[i]) * Double(heard[i])
        }
        let found = 2 * x / Double(frames)
        #expect(abs(found / amplitude - 1) < 0.1, "\(found / amplitude) of the tone")
        // Triangular dither has a power of 1/6 step², the rounding 1/12, and the tone 0.08.
        let steps = power / Double(frames) * 32_768 * 32_768
        #expect((0.28...0.38).contains(steps), "\(steps) step²")
    }

    @Test func `sound of 16 bits and silence are not dithered`() throws {
        let folder = try Folder()
        let frames = 20_000
        let exact = sound(frames: frames)
        for c in 0..<2 {
            for i in 0..<frames {
                exact.channels[c][i] = i < 10_000 ? (exact.channels[c][i] * 32_768).rounded() / 32_768 : 0
            }
        }
        let source = folder.path("exact.caf")
        try write(
            exact, frames: frames,
            to: SoundFiles.create(source, format: AudioFormat(sampleRate: 48_000, channelCount: 2)))
        var conversion = SoundFileConversion(from: source, to: folder.path("exact.wav"))
        conversion.settings.sampleFormat = .int16
        _ = try conversion.run()
        let heard = try contents(AudioFileReader(path: conversion.output))
        #expect(heard[0] == samples(exact, 0, 0..<frames) && heard[1] == samples(exact, 1, 0..<frames))
    }

    @Test func `the broadcast information of a WAV is copied to a WAV at the new rate`() throws {
        let folder = try Folder()
        let source = try ffmpegFile(
            folder, "field.wav", sound(frames: 3_000), frames: 3_000, rate: 48_000,
            [
                "-c:a", "pcm_s24le", "-write_bext", "1", "-metadata", "time_reference=172800000", "-metadata",
                "originator=Recorder",
            ])
        var conversion = SoundFileConversion(from: source, to: folder.path("copy.wav"))
        conversion.sampleRate = 96_000
        let result = try conversion.run()
        #expect(result.lostExtras.isEmpty)
        #expect(try SoundFiles.info(conversion.output).timeReference == 345_600_000)
        #expect(try bytes(conversion.output).count > 3_000)
        #expect(String(decoding: try bytes(conversion.output).prefix(1_024), as: UTF8.self).contains("Recorder"))
        #expect(try run("ffmpeg", "-nostdin", "-v", "error", "-i", conversion.output, "-f", "null", "-").output == "")
        conversion.output = folder.path("copy.flac")
        #expect(try conversion.run().lostExtras == [.broadcastInfo])
    }

    @Test(arguments: [
        ("7.1", "7.1"), ("7.1(wide)", "7.1(wide)"), ("5.1(side)", "5.1(side)"), ("quad", "quad"), ("6.1", "6.1"),
    ]) func `the loudspeakers of the channels are kept`(layout: String, expected: String) throws {
        let folder = try Folder()
        let source = folder.path("source.wav")
        let maker = try run(
            "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=48000:cl=\(layout):d=0.1", "-c:a",
            "pcm_s16le", source)
        #expect(maker.status == 0, "\(maker.output)")
        _ = try SoundFileConversion(from: source, to: folder.path("copy.wav")).run()
        let probe = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=channel_layout", "-of", "csv=p=0",
            folder.path("copy.wav"))
        #expect(probe.output.trimmingCharacters(in: .whitespacesAndNewlines) == expected)
    }

    @Test func `eight channels without a layout are 7·1`() throws {
        let folder = try Folder()
        let writer = try SoundFiles.create(
            folder.path("new.wav"), format: AudioFormat(sampleRate: 48_000, channelCount: 8))
        try writer.writeSilence(frameCount: 100)
        try writer.close()
        let probe = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=channel_layout", "-of", "csv=p=0", folder.path("new.wav")
        )
        #expect(probe.output.trimmingCharacters(in: .whitespacesAndNewlines) == "7.1")
    }

    @Test func `a long coding history is copied with the broadcast information`() throws {
        let folder = try Folder()
        let history = (0..<40).map { "A=PCM,F=48000,W=24,M=stereo,T=machine \($0)\r\n" }.joined()
        let plain = try bytes(try makeSource(folder))
        let fixed: [UInt8] = Array("Described".utf8) + [UInt8](repeating: 0, count: 338 - 9)
        let reference: [UInt8] = [0, 0x77, 0x01, 0, 0, 0, 0, 0]  // 96,000
        let body = fixed + reference + [1, 0] + [UInt8](repeating: 0, count: 254) + Array(history.utf8)
        let size = (0..<4).map { UInt8(body.count >> (8 * $0) & 0xFF) }
        let start = try #require(plain.indices.first { plain[$0...].starts(with: "data".utf8) })
        let source = try folder.file(
            "long.wav", Array(plain[..<start]) + Array("bext".utf8) + size + body + Array(plain[start...]))
        #expect(try SoundFiles.info(source).timeReference == 96_000)
        let result = try SoundFileConversion(from: source, to: folder.path("copy.wav")).run()
        #expect(result.lostExtras.isEmpty && result.frameCount == 3_000)
        #expect(try SoundFiles.info(folder.path("copy.wav")).timeReference == 96_000)
        let copied = String(decoding: try bytes(folder.path("copy.wav")).prefix(4_000), as: UTF8.self)
        #expect(copied.contains("T=machine 39") && copied.contains("Described"))
    }

    @Test(arguments: ["m4a", "mp3", "mka"]) func `lost chapters are reported`(kind: String) throws {
        let folder = try Folder()
        let list = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
        let chapters = try folder.file("chapters.txt", Array(list.utf8))
        let plain = try makeSource(folder, "plain.\(kind == "mka" ? "flac" : kind)", frames: 48_000)
        let path = folder.path("book.\(kind)")
        let maker = try run(
            "ffmpeg", "-nostdin", "-v", "error", "-i", plain, "-i", chapters, "-map_metadata", "1", "-c", "copy", path)
        #expect(maker.status == 0, "\(maker.output)")
        #expect(try SoundFileConversion(from: path, to: folder.path("book.flac")).run().lostExtras == [.chapters])
        #expect(try SoundFileConversion(from: plain, to: folder.path("plain.wav")).run().lostExtras.isEmpty)
    }

    @Test func `lost markers, loops, notes and cue sheets are reported`() throws {
        let folder = try Folder()
        let plain = try bytes(try makeSource(folder))
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + [UInt8(content.count), 0, 0, 0] + content
        }
        let marker: [UInt8] = [1, 0, 0, 0] + [UInt8](repeating: 0, count: 24)
        var sampler = [UInt8](repeating: 0, count: 60)
        sampler[28] = 1
        let source = try folder.file(
            "marked.wav",
            plain + chunk("cue ", marker) + chunk("smpl", sampler) + chunk("iXML", Array("<BWFXML/>".utf8) + [32]))
        let result = try SoundFileConversion(from: source, to: folder.path("copy.wav")).run()
        #expect(result.lostExtras == [.markers, .loops, .productionNotes], "\(result.lostExtras)")

        var flac = try bytes(try makeSource(folder, "source.flac"))
        // An empty cue sheet (RFC 9639, section 8.7) between the header and the next block.
        flac.insert(contentsOf: [5, 0, 1, 0x8C] + [UInt8](repeating: 0, count: 396), at: 42)
        let sheet = try folder.file("sheet.flac", flac)
        #expect(try SoundFileConversion(from: sheet, to: folder.path("copy.flac")).run().lostExtras == [.cueSheet])
    }

    @Test func `invalid samples and samples beyond full scale are counted`() throws {
        let folder = try Folder()
        var bytes: [UInt8] = []
        func add(_ text: String) { bytes += Array(text.utf8) }
        func add(_ number: UInt32, _ length: Int = 4) {
            for i in 0..<length { bytes.append(UInt8(number >> (8 * i) & 255)) }
        }
        let samples: [Float] = [0, .nan, 0.5, 1.5, -2, .infinity, 1, -1]
        add("RIFF"); add(UInt32(36 + 4 * samples.count)); add("WAVEfmt "); add(16); add(3, 2); add(1, 2)
        add(48_000); add(192_000); add(4, 2); add(32, 2); add("data"); add(UInt32(4 * samples.count))
        for sample in samples { add(sample.bitPattern) }
        var conversion = SoundFileConversion(from: try folder.file("odd.wav", bytes), to: folder.path("odd.flac"))
        let result = try conversion.run()
        #expect(result.faultCount == 2 && result.clippedSampleCount == 2 && result.frameCount == samples.count)
        conversion.output = folder.path("odd.aiff")
        #expect(try conversion.run().clippedSampleCount == 0, "a float is not clipped")
    }

    @Test func `two simultaneous conversions to one output each write a complete file`() throws {
        let folder = try Folder()
        let long = try makeSource(folder, "long.wav", frames: 100_000)
        let short = try makeSource(folder, "short.wav")
        let output = folder.path("output.flac")
        var other: SoundFileConversion.Result?
        let result = try SoundFileConversion(from: long, to: output).run { part in
            if part > 0, other == nil {
                other = try? SoundFileConversion(from: short, to: output).run()
                let frames = (try? SoundFiles.open(output))?.frameCount
                #expect(frames == 3_000)
            }
            return true
        }
        #expect(other?.frameCount == 3_000 && result.frameCount == 100_000)
        #expect(try SoundFiles.open(output).frameCount == 100_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 3)
    }

    @Test func `a symbolic link is preserved, and a replaced file passes its mode on to the new one`() throws {
        let folder = try Folder()
        let source = try makeSource(folder)
        let manager = FileManager.default
        _ = try folder.file("old.flac", [1, 2, 3])
        try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("old.flac"))
        for (link, target) in [("link.flac", "old.flac"), ("further.flac", "link.flac"), ("early.flac", "new.flac")] {
            try manager.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
            _ = try SoundFileConversion(from: source, to: folder.path(link)).run()
            #expect(try manager.destinationOfSymbolicLink(atPath: folder.path(link)) == target)
            #expect(try SoundFiles.open(folder.path(target)).frameCount == 3_000)
        }
        #expect(try attribute(.posixPermissions, folder.path("old.flac")) == 0o644)
        #expect(try attribute(.posixPermissions, folder.path("new.flac")) == 0o666 & ~Int(FileMode.mask))
        #expect(try manager.contentsOfDirectory(atPath: folder.url.path).count == 6)
    }
}
