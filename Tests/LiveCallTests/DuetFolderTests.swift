// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall

/// The folder of a duet: its song, its stems and its description.
@Suite struct DuetFolderTests {
    private let scratch: MixRig
    private let keys = (1...3).compactMap { KeyFingerprint(bytes: [UInt8](repeating: $0, count: 32)) }
    private static let length = 12_000

    init() throws { scratch = try MixRig() }

    /// Creates a folder with a song of a quarter of a second.
    private func duet(_ song: String = "The Song.wav") throws -> DuetFolder {
        let path = scratch.path(song)
        try MixRig.write([MixRig.tone(440, Self.length), MixRig.tone(550, Self.length)], to: path)
        return try DuetFolder(
            creating: scratch.path("duet"), name: "Anna & Ben", recordedBy: "Anna", song: .file(path), program: "test")
    }

    /// Writes a stem of one level, and returns its path.
    private func stem(
        _ level: Float = 0.1, frameCount: Int = length, rate: Double = 48_000, channelCount: Int = 1,
        type: AudioFileType = .flac
    ) throws -> String {
        let path = scratch.path("\(UUID().uuidString).flac")
        let writer = try SoundFiles.create(
            path, type: type, format: AudioFormat(sampleRate: rate, channelCount: channelCount))
        let block = AudioBuffer(channelCount: channelCount, frameCapacity: frameCount)
        for c in 0..<channelCount { for n in 0..<frameCount { block.channels[c][n] = level } }
        try writer.write(block.channels, frameCount: frameCount)
        try writer.close()
        return path
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func `a song is copied, and stems are moved to the folder, private and described`() throws {
        var duet = try duet()
        #expect(try bytes(duet.songPath) == bytes(scratch.path("The Song.wav")))
        #expect(duet.songPath == scratch.path("duet/song.wav") && duet.frameCount == Self.length)
        let gaps: [StemGap] = [
            .init(frame: 500, frameCount: .max, reason: nil), .init(frame: -5, frameCount: 105, reason: .stopped),
            .init(frame: 50, frameCount: 100, reason: .device),
        ]
        let (anna, ben) = (try stem(), try stem())
        #expect(chmod(ben, 0o644) == 0)
        try duet.addStem(path: anna, singer: "Anna", key: keys[0], isLocal: true)
        let path = try duet.addStem(path: ben, singer: "Ben", key: keys[1], isLocal: false, gaps: gaps)
        #expect(path == scratch.path("duet/Ben.flac") && PathText.status(ben) == nil)
        for name in ["song.wav", "Anna.flac", "Ben.flac", "recording.json"] {
            #expect(fileMode(scratch.path("duet/\(name)")) == 0o600)
        }
        let manifest = try RecordingManifest(inFolder: duet.path)
        #expect(manifest.version == 1 && manifest.clock == "song" && manifest.sampleRate == 48_000)
        #expect(manifest.tracks.map(\.file) == ["song.wav", "Anna.flac", "Ben.flac"])
        #expect(manifest.tracks.map(\.kind) == [.song, .voice, .voice] && manifest.tracks[0].name == "The Song")
        #expect(manifest.tracks.map(\.isLocal) == [false, true, false])
        #expect(
            manifest.tracks[2].gaps == [
                .init(frame: 0, frameCount: 100, reason: .stopped), .init(frame: 100, frameCount: 50, reason: .device),
                .init(frame: 500, frameCount: Self.length - 500, reason: .away),
            ])
        #expect(try DuetFolder(path: duet.path).stems.map(\.singer) == ["Anna", "Ben"])
        #expect(try MixSource(folder: duet.path).voices.map(\.isSong) == [true, false, false])
    }

    @Test func `a stranger's file that is no stem of the song leaves the folder as it was`() throws {
        var duet = try duet()
        try duet.addStem(path: try stem(), singer: "Anna", key: keys[0], isLocal: true)
        let text = scratch.path("text.flac")
        try "no sound".write(toFile: text, atomically: true, encoding: .utf8)
        let (short, slow, wide, wave) = (
            try stem(frameCount: Self.length - 1), try stem(rate: 44_100), try stem(channelCount: 3),
            try stem(type: .wav)
        )
        let before = try bytes(scratch.path("duet/recording.json"))
        func error(_ path: String) -> DuetFolderError? {
            do throws(DuetFolderError) {
                try duet.addStem(path: path, singer: "Ben", key: keys[1], isLocal: false)
            } catch { return error }
            return nil
        }
        #expect(error(short) == .stemLength(path: short, frameCount: Self.length - 1, expected: Self.length))
        #expect(error(slow) == .stemRate(path: slow, hertz: 44_100, expected: 48_000))
        #expect(error(wide) == .stemChannels(path: wide, count: 3))
        #expect(error(wave) == .stemType(path: wave, type: .wav))
        #expect(error("/nowhere.flac") == .stem(.missing(path: "/nowhere.flac")))
        #expect(error(scratch.path("duet/Anna.flac")) == .ownFile(path: scratch.path("duet/Anna.flac")))
        guard case .stem(.notAudio) = error(text) else {
            Issue.record("\(String(describing: error(text)))")
            return
        }
        #expect(try bytes(scratch.path("duet/recording.json")) == before && duet.stems.count == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: duet.path).sorted() == [
                "Anna.flac", "recording.json", "song.wav",
            ])
        for path in [short, slow, wide, wave, text] { #expect(PathText.status(path) != nil) }
    }

    @Test func `a singer's later stem replaces the earlier one, and names never meet or leave the folder`() throws {
        var duet = try duet()
        let names = ["Ann", "ann", "../x", "Song", "Ann"]
        for (index, name) in names.enumerated() {
            try duet.addStem(
                path: try stem(0.1 * Float(index)), singer: name, key: index < 3 ? keys[index] : nil, isLocal: false)
        }
        let files = ["Ann.flac", "ann 2.flac", "-..-x.flac", "Song 2.flac", "Ann 3.flac"]
        #expect(duet.stems.map(\.path) == files.map { "\(duet.path)/\($0)" })
        // By key, also after a new name; without a key by name.
        try duet.addStem(path: try stem(0.7), singer: "Annette", key: keys[0], isLocal: false)
        try duet.addStem(path: try stem(0.8), singer: "Ann", key: nil, isLocal: false)
        #expect(duet.stems.map(\.path) == files.map { "\(duet.path)/\($0)" } && duet.stems[0].singer == "Annette")
        let levels = try duet.stems.map { try MixRig.read($0.path)[0][100] }
        #expect(zip(levels, [0.7, 0.1, 0.2, 0.3, 0.8]).allSatisfy { abs($0 - $1) < 1e-4 }, "\(levels)")
        #expect(try RecordingManifest(inFolder: duet.path).tracks[1].names == ["Ann", "Annette"])
        // A stem in the folder stays, and a file of the user is not replaced.
        try FileManager.default.moveItem(atPath: try stem(0.5), toPath: "\(duet.path)/Eve.flac")
        try "mine".write(toFile: "\(duet.path)/Dan.txt", atomically: true, encoding: .utf8)
        #expect(
            try duet.addStem(path: "\(duet.path)/Eve.flac", singer: "Eve", key: nil, isLocal: true)
                == "\(duet.path)/Eve.flac")
        #expect(try duet.addStem(path: stem(), singer: "Dan", key: nil, isLocal: true) == "\(duet.path)/Dan 2.flac")
    }

    @Test func `a song is replaced only by one that fits the stems`() throws {
        var duet = try duet()
        let other = scratch.path("other")
        try MixRig.write([MixRig.tone(300, Self.length)], to: other)
        try duet.setSong(path: other)
        #expect(duet.songPath == "\(duet.path)/song.wav")
        #expect(try bytes(duet.songPath) == bytes(other))
        try duet.addStem(path: try stem(), singer: "Anna", key: nil, isLocal: true)
        let (fitting, long) = (try stem(0.4), try stem(frameCount: 2 * Self.length))
        try duet.setSong(path: fitting)
        #expect(duet.songPath == "\(duet.path)/song.flac" && PathText.status("\(duet.path)/song.wav") == nil)
        #expect(throws: DuetFolderError.stemsOfAnotherSong(folder: duet.path)) { try duet.setSong(path: long) }
        #expect(try DuetFolder(path: duet.path).frameCount == Self.length)
    }

    @Test func `a beat has no track, and the mix is that of the voices`() throws {
        let beat = SongFile.describe(Beat(tempo: 92.5), duration: 1.25)
        let sound = try #require(DuetSound(beat, path: nil))
        var duet = try DuetFolder(
            creating: scratch.path("beat"), name: "Duet", recordedBy: "Anna", song: sound, program: "test")
        #expect(duet.sampleRate == 48_000 && duet.frameCount == 60_000)
        #expect(throws: DuetFolderError.self) {
            try duet.addStem(path: stem(), singer: "Eve", key: nil, isLocal: false)
        }
        try duet.addStem(path: stem(frameCount: 60_000), singer: "Anna", key: keys[0], isLocal: true)
        var opened = try DuetFolder(path: duet.path)
        #expect(opened.frameCount == 60_000 && opened.sound == sound && opened.songHash == beat.hash)
        try opened.addStem(path: stem(0.2, frameCount: 60_000), singer: "Ben", key: keys[1], isLocal: false)
        let source = try MixSource(folder: duet.path)
        #expect(source.voices.map(\.name) == ["Anna", "Ben"] && source.voices.allSatisfy { !$0.isSong })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: duet.path).sorted() == [
                "Anna.flac", "Ben.flac", "recording.json",
            ])
        var manifest = opened.manifest
        manifest.beat?.duration = 1e300
        try manifest.write(inFolder: duet.path)
        #expect(throws: DuetFolderError.noSong(folder: duet.path)) { try DuetFolder(path: duet.path) }
        #expect(beat.title == "Beat 92.5" && beat.hash == SongFile.describe(Beat(tempo: 92.5), duration: 1.25).hash)
        #expect(beat.hash != SongFile.describe(Beat(tempo: 92.5), duration: 1.5).hash)
    }

    @Test func `a song that cannot be read leaves no folder, and a recording is no duet`() throws {
        let path = scratch.path("text.mp3")
        try "no sound".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: DuetFolderError.self) {
            try DuetFolder(
                creating: scratch.path("duet"), name: "Duet", recordedBy: "Anna", song: .file(path), program: "test")
        }
        #expect(PathText.status(scratch.path("duet")) == nil)
        try scratch.add("Ann", [MixRig.tone(440, 100)])
        _ = try scratch.source()
        #expect(throws: DuetFolderError.noSong(folder: scratch.folder)) { try DuetFolder(path: scratch.folder) }
    }
}
