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
    @Test(arguments: ["wav", "aiff", "flac", "mp3", "ogg", "opus", "aac"])
    func `a truncated file is converted up to its end, and the damage is reported`(kind: String) throws {
        let folder = try Folder()
        let whole = try makeSource(folder, "whole.\(kind)", frames: 96_000)
        let content = try bytes(whole)
        let part = try folder.file("part.\(kind)", Array(content.prefix(content.count * 6 / 10)))
        let complete = try SoundFileConversion(from: whole, to: folder.path("whole.caf")).run()
        #expect(complete.inputDamage == nil && complete.frameCount > 95_000)
        for loudness in [nil, -23.0] {
            var conversion = SoundFileConversion(from: part, to: folder.path("part.caf"))
            conversion.loudness = loudness
            let result = try conversion.run()
            #expect((30_000..<70_000).contains(result.frameCount), "\(kind): \(result.frameCount)")
            // ADTS has neither a length nor an end.
            #expect((result.inputDamage != nil) == (kind != "aac"), "\(kind)")
            #expect(try SoundFiles.open(folder.path("part.caf")).frameCount == result.frameCount)
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
