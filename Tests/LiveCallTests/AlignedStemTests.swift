// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall

/// A stem from the takes in a recording's folder.
@Suite struct AlignedStemTests {
    private static let length = TakeFolderRig.frameCount
    private static func steady(_ level: Float, _ count: Int = length) -> [Float] {
        .init(repeating: level, count: count)
    }

    @Test func `a stem has the song's length, is private, and lists what was not sung with its reason`() throws {
        let rig = try TakeFolderRig([MixRig.tone(300, 40_000)])
        try rig.add(
            "Anna.take",
            [
                .gap(.init(frame: 0, frameCount: 1_000, reason: .stopped)),
                TakeFolderRig.piece(1_000, 9_000, song: 2_000),
                .gap(.init(frame: 10_000, frameCount: 0, reason: .device)),
                TakeFolderRig.piece(10_000, 10_000, song: 20_000),
            ])
        let (stem, sound) = try rig.write()
        #expect(stem.frameCount == 48_000 && stem.format.channelCount == 1 && stem.faults.isEmpty)
        #expect(sound.map(\.count) == [48_000] && fileMode(rig.stemPath) == 0o600)
        #expect(
            stem.gaps == [
                .init(frame: 0, frameCount: 2_000, reason: .stopped),
                .init(frame: 11_000, frameCount: 9_000, reason: .device),
                .init(frame: 30_000, frameCount: 18_000, reason: nil),
            ])
        let sung = MixRig.tone(300, 40_000)
        #expect(errorDecibels(Array(sung[2_000..<9_000]), Array(sound[0][3_000..<10_000])) < -90)
        #expect(errorDecibels(Array(sung[11_000..<19_000]), Array(sound[0][21_000..<29_000])) < -90)
        #expect(sound[0][12_000..<19_000].allSatisfy { $0 == 0 })
    }

    @Test func `of a passage in two takes the later one counts`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1, 48_000) + Self.steady(0.2, 20_000), Self.steady(0.3, 68_000)])
        try rig.add("Anna.take", [TakeFolderRig.piece(0, 40_000, song: 0)])
        try rig.add("Anna 2.take", [TakeFolderRig.piece(50_000, 10_000, song: 20_000)])
        let (stem, sound) = try rig.write()
        #expect(stem.format.channelCount == 2 && stem.gaps.map(\.frame) == [40_000])
        for (frame, level) in [(10_000, 0.1), (25_000, 0.2), (35_000, 0.1), (45_000, 0)] as [(Int, Float)] {
            #expect(abs(sound[0][frame] - level) < 1e-4, "\(frame): \(sound[0][frame])")
        }
        #expect(abs(sound[1][25_000] - 0.3) < 1e-4)
    }

    @Test func `a take that cannot be used is reported, and the others are in the stem`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1)])
        try rig.add("Anna.take", [TakeFolderRig.piece(0, 40_000, song: 0)])
        let bad = ["missing.take", "damaged.take", "song.take", "end.take", "sound.take", "rate.take"]
        for name in bad.prefix(2) { try rig.add(name, []) }
        try FileManager.default.removeItem(atPath: rig.recording.path("missing.take"))
        try "no take\n".write(toFile: rig.recording.path("damaged.take"), atomically: true, encoding: .utf8)
        try rig.add("song.take", [TakeFolderRig.piece(0, 40_000, song: 0)], songRate: 44_100)
        try rig.add(
            "end.take", [TakeFolderRig.piece(0, 9_000, song: 60_000), TakeFolderRig.piece(9_000, 9, song: 70_000)])
        try rig.add("sound.take", [TakeFolderRig.piece(0, 40_000, song: 0)], file: "Ben.wav")
        try rig.add("rate.take", [TakeFolderRig.piece(0, 40_000, song: 0)], rate: 44_100)
        let (stem, sound) = try rig.write()
        #expect(
            stem.faults == [
                .missingMap(take: bad[0], .missing(path: rig.recording.path(bad[0]))),
                .unusableMap(take: bad[1], .notATake(path: rig.recording.path(bad[1]))),
                .otherSong(take: bad[2], sampleRate: 44_100, lastFrame: 40_000),
                .otherSong(take: bad[3], sampleRate: 48_000, lastFrame: 70_009),
                .otherSound(take: bad[4], file: "Ben.wav", sampleRate: 48_000),
                .otherSound(take: bad[5], file: "Anna.wav", sampleRate: 44_100),
            ])
        #expect(abs(sound[0][20_000] - 0.1) < 1e-4)
        rig.recording.manifest.tracks[0].takes?.removeFirst()
        #expect(try rig.error() == .nothingUsable(folder: rig.recording.folder, faults: stem.faults))
    }

    @Test func `damaged lines of a map cost only what they describe`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1)])
        try rig.add(
            "Anna.take",
            [TakeFolderRig.piece(0, 10_000, song: 0), TakeFolderRig.piece(10_000, 10_000, song: 900_000)]
                + [TakeFolderRig.piece(20_000, 20_000, song: 20_000)])
        let path = rig.recording.path("Anna.take")
        let map = try String(contentsOfFile: path, encoding: .utf8)
        try (map + "{\"frame\":1}\n{\"frame\":41000,").write(toFile: path, atomically: true, encoding: .utf8)
        let (stem, sound) = try rig.write()
        #expect(stem.faults == [.damagedLines(take: "Anna.take", count: 2)])
        #expect(stem.gaps.map(\.frame) == [10_000, 40_000] && abs(sound[0][30_000] - 0.1) < 1e-4)
    }

    @Test func `missing sound is silent and reported, and the parts after it keep their place`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1)])
        try rig.add("Anna.take", [TakeFolderRig.piece(0, 48_000, song: 0)], file: "Anna-001.wav")
        (rig.recording.manifest.tracks[0].file, rig.recording.manifest.tracks[0].parts) = ("Anna-001.wav", 3)
        for part in [1, 3] {
            try MixRig.write([Self.steady(0.1 * Float(part), 16_000)], to: rig.recording.path("Anna-00\(part).wav"))
        }
        let (stem, sound) = try rig.write()
        guard case .sound(let fault) = stem.faults.first, fault.kind == .missing else {
            Issue.record("\(stem.faults)")
            return
        }
        #expect(abs(sound[0][10_000] - 0.1) < 1e-4 && sound[0][20_000] == 0 && abs(sound[0][40_000] - 0.3) < 1e-4)
        #expect(stem.gaps == [.init(frame: 16_000, frameCount: 16_000, reason: nil)])
        for part in [1, 3] { try FileManager.default.removeItem(atPath: rig.recording.path("Anna-00\(part).wav")) }
        guard case .nothingUsable(_, let faults) = try rig.error() else {
            Issue.record("a stem without sound")
            return
        }
        #expect(faults.count == 3)
    }

    @Test func `takes of several tracks are used in the order in which they were sung`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1)])
        try rig.add("Anna.take", [TakeFolderRig.piece(20_000, 20_000, song: 0)])
        try rig.recording.add("Anna 2", [Self.steady(0.2), Self.steady(0.3)])
        try rig.add("Anna 2.take", [TakeFolderRig.piece(10_000, 20_000, song: 10_000)], file: "Anna 2.wav")
        rig.recording.manifest.tracks[0].takes?.removeLast()
        (rig.recording.manifest.tracks[1].isLocal, rig.recording.manifest.tracks[1].takes) = (true, ["Anna 2.take"])
        // Host times are frames here, so the second track is the earlier one.
        let (stem, sound) = try rig.write()
        #expect(stem.faults.isEmpty && stem.format.channelCount == 2 && stem.gaps.map(\.frame) == [30_000])
        #expect(abs(sound[1][15_000] - 0.1) < 1e-4 && abs(sound[1][25_000] - 0.3) < 1e-4, "\(sound[1][15_000])")
    }

    @Test func `a file that ends early leaves a gap`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1, 30_000)])
        try rig.add("Anna.take", [TakeFolderRig.piece(0, 40_000, song: 0)])
        #expect(try rig.write().stem.gaps.map(\.frame) == [30_000])
    }

    @Test func `without takes, and over a file of the recording, nothing is written`() throws {
        let rig = try TakeFolderRig([Self.steady(0.1)])
        let folder = rig.recording.folder
        #expect(try rig.error() == .noTakes(folder: folder))
        try rig.add("Anna.take", [TakeFolderRig.piece(0, 40_000, song: 0)])
        _ = try rig.recording.source()
        func write(song: String = "song.wav", to name: String) throws {
            _ = try AlignedStem.write(
                takesOf: [folder], song: .file(rig.recording.path(song)), to: rig.recording.path(name))
        }
        for name in ["Anna.wav", "Anna.take", "recording.json"] {
            #expect(throws: StemError.ownFile(path: rig.recording.path(name))) { try write(to: name) }
        }
        #expect(throws: StemError.output(.missingFolder(path: rig.recording.path("no/new.flac")))) {
            try write(to: "no/new.flac")
        }
        #expect(throws: StemError.song(.missing(path: rig.recording.path("none.wav")))) {
            try write(song: "none.wav", to: "new.flac")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                "Anna.take", "Anna.wav", "recording.json", "song.wav",
            ])
    }

    @Test func `a take of a beat becomes a stem with the beat's length`() throws {
        let rig = try TakeFolderRig([MixRig.tone(440, 60_000)])
        try rig.add("Anna.take", [TakeFolderRig.piece(5_000, 40_000, song: 1_000)])
        let (stem, sound) = try rig.write(song: .beat(SongFile.describe(Beat(tempo: 96), duration: 1.5)))
        #expect(stem.frameCount == 72_000 && stem.format.sampleRate == 48_000 && sound[0].count == 72_000)
        #expect(stem.gaps.map(\.frame) == [0, 41_000] && sound[0][20_000...21_000].contains { abs($0) > 0.01 })
    }
}
