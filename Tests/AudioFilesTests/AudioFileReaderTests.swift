// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct AudioFileReaderTests {
    @Test("Formats written by sox are read", arguments: [("wav", -80.0), ("flac", -80), ("aiff", -80), ("ogg", -20)])
    func formats(kind: String, decibels: Double) throws {
        let folder = try Folder()
        let wav = folder.path("a.wav")
        let sound = tone(frames: 20_001, channels: 2, rate: 44_100)
        let writer = try AudioFileWriter(path: wav, format: AudioFormat(sampleRate: 44_100, channelCount: 2))
        try writer.write(sound.channels, frameCount: 20_001)
        try writer.close()
        let other = folder.path("b." + kind)
        let sox = try run("sox", "-D", wav, "-b", "16", other)
        #expect(sox.status == 0 || kind == "ogg", "\(sox.output)")
        let reader = try AudioFileReader(path: other)
        #expect(reader.processingFormat == AudioFormat(sampleRate: 44_100, channelCount: 2))
        #expect(reader.frameCount == 20_001)
        let heard = try contents(other)
        for c in 0..<2 { #expect(errorDecibels(heard[c], samples(sound, c, 0..<20_001)) < decibels) }
    }

    @Test("A file read in pieces of any size gives the same samples", arguments: [1, 3, 511, 2048, 2049, 9999])
    func pieces(size: Int) throws {
        let folder = try Folder()
        let path = folder.path("a.wav")
        let frames = 4567
        let sound = tone(frames: frames, channels: 2)
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2))
        try writer.write(sound.channels, frameCount: frames)
        try writer.close()
        let reader = try AudioFileReader(path: path)
        let heard = AudioBuffer(channelCount: 2, frameCapacity: frames + size)
        var at = 0
        while true {
            let got = try reader.read(into: heard.channels, frameCount: size, offset: at)
            at += got
            #expect(reader.framePosition == at)
            if got < size { break }
        }
        #expect(at == frames)
        #expect(try reader.read(into: heard.channels, frameCount: size) == 0)
        for c in 0..<2 { #expect(samples(heard, c, 0..<frames) == samples(sound, c, 0..<frames)) }
    }

    @Test func wrongFilesSayWhatToDo() throws {
        let folder = try Folder()
        let missing = folder.path("none.wav")
        #expect(throws: AudioFileError.missing(path: missing)) { try AudioFileReader(path: missing) }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) { try AudioFileReader(path: folder.url.path) }
        #expect(throws: AudioFileError.notRegular(path: "/dev/zero")) { try AudioFileReader(path: "/dev/zero") }
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: AudioFileError.notRegular(path: pipe)) { try AudioFileReader(path: pipe) }

        for content in [Data(), Data("hello, this is no audio".utf8), Data("RIFF\u{1}\u{2}WAVE".utf8)] {
            let text = folder.path("text.wav")
            try content.write(to: URL(fileURLWithPath: text))
            let error = #expect(throws: AudioFileError.self) { try AudioFileReader(path: text) }
            guard case .notAudio = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        try withoutPrivilege(folder) {
            #expect(throws: AudioFileError.notPermitted(path: missing)) { try AudioFileReader(path: missing) }
        }
    }

    @Test func ratesAndChannelCountsOutsideAreRefused() throws {
        let folder = try Folder()
        let slow = folder.path("slow.wav")
        #expect(try run("sox", "-n", "-r", "6000", slow, "synth", "0.1", "sine", "440").status == 0)
        #expect(throws: AudioFileError.unsupportedSampleRate(path: slow, hertz: 6000)) {
            try AudioFileReader(path: slow)
        }
        let wide = folder.path("wide.wav")
        #expect(try run("sox", "-n", "-r", "8000", "-c", "40", wide, "synth", "0.1", "sine", "440").status == 0)
        #expect(throws: AudioFileError.unsupportedChannelCount(path: wide, count: 40)) {
            try AudioFileReader(path: wide)
        }
    }

    @Test("A damaged file gives an error or finite samples, never a trap", arguments: 0..<4)
    func mutations(block: Int) throws {
        var readable = 0
        for seed in 50 * block..<50 * (block + 1) where try isReadable(damagedBy: seed) { readable += 1 }
        #expect(readable >= 5)
    }

    private func isReadable(damagedBy seed: Int) throws -> Bool {
        let folder = try Folder()
        let path = folder.path("a.wav")
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2))
        let sound = tone(frames: 300, channels: 2)
        try writer.write(sound.channels, frameCount: 300)
        try writer.close()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<4 { bytes[next(seed % 2 == 0 ? 60 : bytes.count)] = UInt8(next(256)) }
        bytes.removeLast(next(bytes.count))
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        guard let reader = try? AudioFileReader(path: path) else { return false }
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4096)
        for _ in 0..<4 {
            let got = try? reader.read(into: buffer.channels, frameCount: 4096)
            #expect((0...4096).contains(got ?? 0))
            for i in 0..<(got ?? 0) { #expect(buffer.channels[0][i].isFinite) }
        }
        return true
    }

    @Test func everyErrorIsOneLineWithAWayOut() {
        let errors: [AudioFileError] = [
            .missing(path: "a"), .missingFolder(path: "a"), .notPermitted(path: "a"), .directory(path: "a"),
            .notRegular(path: "a"), .notAudio(path: "a", reason: "b"), .unsupportedSampleRate(path: "a", hertz: 1),
            .unsupportedChannelCount(path: "a", count: 99), .damaged(path: "a", reason: "b"), .diskFull(path: "a"),
            .tooLong(path: "a"), .tagsRefused(path: "a", detail: "b"), .tagsTooLarge(path: "a"),
            .notSeekable(path: "a"), .closed(path: "a"), .system(path: "a", code: 5),
        ]
        for error in errors {
            #expect(error.description.hasPrefix("a: ") && !error.description.contains("\n"))
        }
    }
}
