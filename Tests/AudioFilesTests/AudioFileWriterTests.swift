// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct AudioFileWriterTests {
    @Test(
        "Written samples are read back within the precision of the sample format",
        arguments: [1, 2, 7, 2048, 2049, 5001], AudioFileWriter.SampleFormat.allCases)
    func roundTrip(frames: Int, sampleFormat: AudioFileWriter.SampleFormat) throws {
        for (channels, rate) in [(1, 44_100.0), (2, 48_000), (5, 8_000)] {
            let folder = try Folder()
            for kind in ["wav", "flac"] {
                let path = folder.path("a.\(kind)")
                let sent = tone(frames: frames + 3, channels: channels, rate: rate)
                let format = AudioFormat(sampleRate: rate, channelCount: channels)
                let writer = try AudioFileWriter(path: path, format: format, sampleFormat: sampleFormat)
                try writer.write(sent.channels, frameCount: frames, offset: 3)
                try writer.close()
                try writer.close()
                #expect(writer.frameCount == frames)

                let reader = try AudioFileReader(path: path)
                #expect(reader.processingFormat == format)
                #expect(reader.frameCount == frames)
                let heard = try contents(path)
                for c in 0..<channels {
                    let errors = zip(heard[c], samples(sent, c, 3..<3 + frames)).map { ($0 - $1).magnitude }
                    let most: Float =
                        sampleFormat == .int16 ? 1.5 * 0x1p-15 : kind == "wav" && sampleFormat == .float32 ? 0 : 0x1p-23
                    #expect(errors.count == frames && errors.allSatisfy { $0 <= most }, "\(kind)")
                }
            }
        }
    }

    @Test func aNewFileIsPrivateAndAnOldOneIsEmptiedAndKeepsItsMode() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let new = folder.path("new.wav")
        try AudioFileWriter(path: new, format: format).close()
        #expect(try FileManager.default.attributesOfItem(atPath: new)[.posixPermissions] as? Int == 0o600)

        let old = folder.path("old.wav")
        #expect(FileManager.default.createFile(atPath: old, contents: Data(count: 100_000)))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: old)
        try AudioFileWriter(path: old, format: format).close()
        #expect(try FileManager.default.attributesOfItem(atPath: old)[.posixPermissions] as? Int == 0o644)
        #expect(try AudioFileReader(path: old).frameCount == 0)
    }

    @Test(arguments: AudioFileWriter.SampleFormat.allCases)
    func theFileIsPlayableAfterEveryWriteThoughNeverClosed(sampleFormat: AudioFileWriter.SampleFormat) throws {
        let folder = try Folder()
        let path = folder.path("live.wav")
        let sound = tone(frames: 1023, channels: 2)
        let writer = try AudioFileWriter(
            path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleFormat: sampleFormat)
        for count in 0...3 {
            // A copy is the file that a kill at this time would leave: the writer buffers nothing in memory.
            let copy = folder.path("copy\(count).wav")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            #expect(try AudioFileReader(path: copy).frameCount == 1023 * count)
            let heard = try contents(copy)
            for block in 0..<count {
                let part = Array(heard[1][block * 1023..<(block + 1) * 1023])
                #expect(errorDecibels(part, samples(sound, 1, 0..<1023)) < -80)
            }
            let soxi = try run("sox", "--i", "-s", copy)
            #expect(soxi.status == 0 && soxi.output.contains("\(1023 * count)"), "\(soxi.output)")
            try writer.write(sound.channels, frameCount: 1023)
        }
    }

    @Test func sixteenBitsClipAndDoNotWrap() throws {
        let folder = try Folder()
        let path = folder.path("loud.wav")
        let sound = AudioBuffer(channelCount: 1, frameCapacity: 3)
        for (i, sample) in [Float(1.5), -1.5, 1].enumerated() { sound.channels[0][i] = sample }
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let writer = try AudioFileWriter(path: path, format: format, sampleFormat: .int16)
        try writer.write(sound.channels, frameCount: 3)
        try writer.close()
        let heard = try contents(path)[0]
        #expect(heard[0] > 0.999 && heard[1] < -0.999 && heard[2] > 0.999)
    }

    @Test func silenceIsWrittenInBetween() throws {
        let folder = try Folder()
        let path = folder.path("gap.wav")
        let sound = tone(frames: 100)
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        try writer.write(sound.channels, frameCount: 100)
        try writer.writeSilence(frameCount: 5001)
        try writer.write(sound.channels, frameCount: 100)
        try writer.close()
        let heard = try contents(path)[0]
        #expect(heard.count == 5201)
        #expect(heard[100..<5101].allSatisfy { $0 == 0 })
        #expect(Array(heard[5101...]) == samples(sound, 0, 0..<100))
    }

    @Test func writingAfterCloseIsAnError() throws {
        let folder = try Folder()
        let path = folder.path("a.wav")
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        try writer.close()
        let sound = tone(frames: 1)
        #expect(throws: AudioFileError.closed(path: path)) { try writer.write(sound.channels, frameCount: 1) }
    }

    @Test func aFullDeviceRefusesTheFirstWrite() {
        let sound = tone(frames: 100)
        #expect(throws: AudioFileError.diskFull(path: "/dev/full")) {
            let writer = try AudioFileWriter(
                path: "/dev/full", format: AudioFormat(sampleRate: 48_000, channelCount: 1))
            try writer.write(sound.channels, frameCount: 100)
        }
    }

    @Test func whatFitsOnAFullDiskStaysPlayable() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let path = disk.path + "/a.wav"
        let sound = tone(frames: 1000, channels: 3)
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 3))
        #expect(throws: AudioFileError.diskFull(path: path)) {
            for _ in 0..<100 { try writer.write(sound.channels, frameCount: 1000) }
        }
        #expect(writer.frameCount > 4000 && writer.frameCount < 5500)
        #expect(throws: AudioFileError.closed(path: path)) { try writer.write(sound.channels, frameCount: 1) }
        let heard = try contents(path)
        #expect(heard[2].count == writer.frameCount)
        #expect(Array(heard[2][0..<1000]) == samples(sound, 2, 0..<1000))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 > 12 * writer.frameCount)
        #expect(try run("sox", "--i", path).status == 0)
    }

    @Test func wrongTargetsSayWhy() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let lost = folder.path("none/a.wav")
        #expect(throws: AudioFileError.missingFolder(path: lost)) { try AudioFileWriter(path: lost, format: format) }
        let here = folder.url.path
        #expect(throws: AudioFileError.directory(path: here)) { try AudioFileWriter(path: here, format: format) }
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: AudioFileError.notRegular(path: pipe)) { try AudioFileWriter(path: pipe, format: format) }
        try withoutPrivilege(folder) {
            let path = folder.path("denied.wav")
            #expect(throws: AudioFileError.notPermitted(path: path)) {
                try AudioFileWriter(path: path, format: format)
            }
        }
    }
}

/// A disk of a few kilobytes, mounted for one test; only root may mount it.
final class SmallDisk {
    let path: String

    init(kilobytes: Int) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("none", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            rmdir(path)
            try Test.cancel("mounting a small disk needs root")
        }
    }

    deinit {
        umount2(path, Int32(2))  // MNT_DETACH
        rmdir(path)
    }
}

/// Runs `body` on this thread as a user who may not enter `folder`. Only root can become one.
func withoutPrivilege(_ folder: Folder, _ body: () throws -> Void) throws {
    guard geteuid() == 0 else { try Test.cancel("only root can give its rights up") }
    chmod(folder.url.path, 0o700)
    // The one identity that belongs to a thread; Glibc's module does not declare it.
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let setFileUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
    _ = setFileUser(65534)
    defer { _ = setFileUser(0) }
    try body()
}
