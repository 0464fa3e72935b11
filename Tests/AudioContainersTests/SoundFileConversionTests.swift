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

    @Test func `an output that is a folder, a pipe or a device is refused, and stays what it is`() throws {
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

    @Test func `two conversions to one output at once do not meet: each gives it a whole file`() throws {
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

    @Test func `a link stays one, and a file that is replaced leaves its mode to the new one`() throws {
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
