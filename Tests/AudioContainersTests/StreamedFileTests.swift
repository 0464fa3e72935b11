// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

/// Streams that cannot seek, and files to which sound is appended.
@Suite(.serialized) struct StreamedFileTests {
    private static let format = AudioFormat(sampleRate: 48_000, channelCount: 2)

    /// Returns what was written to a pipe.
    private func streamed(
        _ type: AudioFileType, settings: SoundFiles.Settings = SoundFiles.Settings(),
        _ write: (any SoundFileWriter) throws -> Void
    ) throws -> [UInt8] {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (from, to) = (ends[0], ends[1])
        let reading = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var bytes = Data()
        let thread = Thread {
            let file = FileHandle(fileDescriptor: from, closeOnDealloc: true)
            bytes = (try? file.readToEnd()) ?? Data()
            reading.signal()
        }
        thread.start()
        do {
            let writer = try SoundFiles.create(
                stream: to, name: "a pipe", type: type, format: Self.format, settings: settings)
            close(to)
            try write(writer)
            try writer.close()
        }
        reading.wait()
        return [UInt8](bytes)
    }

    @Test(arguments: [AudioFileType.wav, .rf64, .flac, .vorbis, .opus, .mp3, .adts, .m4a])
    func `ffmpeg reads all of a stream written to a pipe`(_ type: AudioFileType) throws {
        let folder = try Folder()
        let said = sound(frames: 96_000)
        let bytes = try streamed(type) { writer in
            for k in 0..<20 { try writer.write(said.channels, frameCount: 4_800, offset: k * 4_800) }
        }
        let path = try folder.file("stream", bytes)
        let (heard, complaints) = try decodedByFFmpeg(path, in: folder)
        #expect(complaints.isEmpty, "\(type): \(complaints)")
        let count = try #require(heard.first?.count)
        // MP3, ADTS and fragmented M4A also contain the encoder's silence.
        #expect(count >= 96_000 && count < 96_000 + 4_700, "\(type): \(count)")
        switch type {
        case .wav, .rf64: #expect(heard[1] == samples(said, 1, 0..<96_000))
        case .flac: for i in 0..<96_000 { #expect(abs(heard[1][i] - said.channels[1][i]) < 1.2e-7) }
        default: break
        }
        // Our own reader reads the same bytes.
        let ours = try SoundFiles.open(path)
        #expect(ours.processingFormat == Self.format)
        #expect(try contents(ours)[0].count >= 96_000 - 1, "\(type)")
    }

    @Test(arguments: [false, true])
    func `an MP3 of variable bit rate without a header has the right length and seeks correctly`(isTagged: Bool) throws
    {
        let folder = try Folder()
        let said = sound(frames: 288_000)
        // Silence takes the fewest bits: judged by its first frame the file would be far longer than it is.
        for c in 0..<2 { clearSamples(said.channels[c], 96_000) }
        let bytes = try streamed(.mp3, settings: SoundFiles.Settings(bitRate: .variable(4))) { writer in
            try writer.write(said.channels, frameCount: 288_000, offset: 0)
        }
        let path = try folder.file("a.mp3", bytes)
        if isTagged {
            var tags = AudioFileTags()
            tags.title = "Radio"
            try tags.write(to: path)
        }
        let reader = try SoundFiles.open(path)
        #expect((288_000..<288_000 + 4 * 1_152).contains(reader.frameCount), "\(reader.frameCount)")
        let all = try contents(reader)
        #expect(all[0].count == reader.frameCount)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 1_000)
        for place in [200_000, 17, 100_001, 287_000] {
            try reader.seek(to: place)
            #expect(try reader.read(into: block.channels, frameCount: 1_000, offset: 0) == 1_000)
            #expect((0..<1_000).allSatisfy { abs(block.channels[1][$0] - all[1][place + $0]) < 1e-6 }, "\(place)")
        }
        let (ffmpeg, _) = try decodedByFFmpeg(path, in: folder)
        #expect(abs(ffmpeg[0].count - reader.frameCount) <= 1_152 + 529)
        // Complete packets before a cut, and those after a gap, are read.
        let cut = try SoundFiles.open(folder.file("cut.mp3", Array(bytes.dropLast(100))))
        #expect(cut.frameCount == reader.frameCount - 1_152)
        let gap = bytes[..<2_000] + [UInt8](repeating: 0, count: 5_000) + bytes[2_000...]
        #expect(try SoundFiles.open(folder.file("gap.mp3", Array(gap))).frameCount == reader.frameCount)
    }

    @Test(arguments: [AudioFileType.aiff, .caf]) func `AIFF and CAF cannot be written to a stream`(
        _ type: AudioFileType
    ) throws {
        #expect(throws: AudioFileError.self) {
            _ = try SoundFiles.create(stream: STDOUT_FILENO, name: "a pipe", type: type, format: Self.format)
        }
    }

    @Test(arguments: [AudioFileType.wav, .flac, .opus, .mp3, .m4a])
    func `a closed pipe is an error, and the writer stays closed`(_ type: AudioFileType) throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let writer = try SoundFiles.create(stream: ends[1], name: "a pipe", type: type, format: Self.format)
        close(ends[0])
        close(ends[1])
        let said = sound(frames: 48_000)
        #expect(throws: AudioFileError.notRead(path: "a pipe")) {
            for _ in 0..<10 { try writer.write(said.channels, frameCount: 48_000, offset: 0) }
        }
        #expect(throws: AudioFileError.closed(path: "a pipe")) {
            try writer.write(said.channels, frameCount: 1, offset: 0)
        }
    }

    @Test(arguments: ["wav", "aiff", "caf", "flac"], [AudioFileWriter.SampleFormat.int16, .int24])
    func `appending to a file is lossless and keeps its tags and mode`(
        _ kind: String, _ sampleFormat: AudioFileWriter.SampleFormat
    ) throws {
        let folder = try Folder()
        let path = folder.path("a.\(kind)")
        let said = sound(frames: 30_000)
        let first = try SoundFiles.create(
            path, format: Self.format, settings: SoundFiles.Settings(sampleFormat: sampleFormat))
        try first.write(said.channels, frameCount: 10_001, offset: 0)
        try first.close()
        var tags = AudioFileTags()
        tags.title = "Lied"
        if kind != "caf" { try tags.write(to: path) }
        chmod(path, 0o640)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
        let whole = try contents(SoundFiles.open(path))
        let second = try SoundFiles.append(to: folder.path("link"))
        #expect(second.format == Self.format && second.frameCount == 10_001)
        // The earlier sound is complete at any time.
        #expect(try contents(SoundFiles.open(path))[0].count > 10_001 - 4_800)
        try second.write(said.channels, frameCount: 19_999, offset: 10_001)
        try second.close()
        let both = try contents(SoundFiles.open(path))
        #expect(both[0].count == 30_000 && Array(both[1][..<10_001]) == whole[1])
        // Half a step by rounding, and one by dither.
        let most: Float = sampleFormat == .int16 ? 1.5 * 0x1p-15 : 0x1p-23
        #expect((10_001..<30_000).allSatisfy { abs(both[1][$0] - said.channels[1][$0]) <= most })
        let info = try SoundFiles.info(path)
        #expect(info.bitDepth == (sampleFormat == .int16 ? 16 : 24))
        if kind != "caf" { #expect(info.tags.title == "Lied") }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
    }

    @Test(arguments: ["mp3", "ogg", "opus", "m4a", "aac"])
    func `a file of a lossy format cannot be appended to and is left unchanged`(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("a.\(kind)")
        let said = sound(frames: 20_000)
        try write(said, frames: 20_000, to: SoundFiles.create(path, format: Self.format))
        let before = try bytes(path)
        #expect(throws: AudioFileError.self) { try SoundFiles.append(to: path) }
        #expect(throws: AudioFileError.missing(path: folder.path("none.wav"))) {
            try SoundFiles.append(to: folder.path("none.wav"))
        }
        #expect(try bytes(path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    /// A WAV, AIFF or FLAC file with texts and a picture.
    private func tagged(_ path: String) throws -> AudioFileTags {
        let said = sound(frames: 9_600)
        let settings = SoundFiles.Settings(sampleFormat: .int16)
        try write(said, frames: 9_600, to: SoundFiles.create(path, format: Self.format, settings: settings))
        var tags = AudioFileTags()
        tags.title = "Lied"
        tags.fields["ARTIST"] = ["Eine", "Zwei"]
        tags.pictures = [.init(mimeType: "image/png", kind: .backCover, bytes: [UInt8](repeating: 9, count: 60_000))]
        try tags.write(to: path)
        return tags
    }

    @Test(arguments: ["wav", "aiff", "flac"])
    func `appending keeps the tags in a file alongside until they are restored`(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("a.\(kind)")
        let tags = try tagged(path)
        let shelf = folder.path(".a.\(kind).earshot-tags.flac")
        // A file of an earlier, killed process is kept.
        _ = try folder.file(".a.\(kind).earshot-tags.flac", Array("older".utf8))
        let other = folder.path(".a.\(kind).earshot-tags-2.flac")
        let said = sound(frames: 4_800)
        let writer = try SoundFiles.append(to: path)
        try writer.write(said.channels, frameCount: 4_800, offset: 0)
        // A kill at this time leaves this file.
        #expect(try AudioFileTags(path: other) == tags)
        #expect(try SoundFiles.open(other).frameCount > 0)
        #expect(try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int == 0o600)
        try writer.close()
        #expect(try AudioFileTags(path: path) == tags)
        #expect(try SoundFiles.open(path).frameCount == 14_400)
        #expect(try bytes(shelf) == Array("older".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
    }

    @Test func `a full disk preserves the tags, and the error says where they are`() throws {
        guard let disk = SmallDisk(kilobytes: 600) else { try Test.cancel("mounting a small disk needs root") }
        let path = disk.path + "/a.wav"
        let tags = try tagged(path)
        let said = sound(frames: 48_000)
        let writer = try SoundFiles.append(to: path)
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<9 { try writer.write(said.channels, frameCount: 48_000, offset: 0) }
        }
        let shelf = disk.path + "/.a.wav.earshot-tags.flac"
        let error = #expect(throws: AudioFileError.self) { try writer.close() }
        #expect(error == .tagsRefused(path: path, detail: "the disk is full; they are in \(shelf)"))
        #expect(try AudioFileTags(path: shelf) == tags)
        #expect(try SoundFiles.open(path).frameCount > 57_600)
        try writer.close()
    }

    @Test func `appending does not start if the tags cannot be preserved`() throws {
        guard let disk = SmallDisk(kilobytes: 320) else { try Test.cancel("mounting a small disk needs root") }
        let path = disk.path + "/a.wav"
        _ = try tagged(path)
        // Room for another copy of the sound, but not for the picture.
        let left = (320 << 10) - Int(try bytes(path).count) - 80_000
        try Data(count: left).write(to: URL(filePath: disk.path + "/other"))
        let before = try bytes(path)
        #expect(throws: AudioFileError.diskFull(path: path)) { try SoundFiles.append(to: path) }
        #expect(try bytes(path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).sorted() == ["a.wav", "other"])
    }
}
