// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// A duet in which a singer's program is killed in mid-song, on virtual time.
@Suite(.optimized) struct KilledDuetTests {
    private static let rate = SungCallRig.songRate

    /// A singer's folder of a take.
    private struct Side {
        let name: String
        let take: String
    }

    /// Creates the folder of a take as a program leaves it while it records.
    private func makeTake(_ scratch: MixRig, _ name: String, song: String) throws -> Side {
        let take = scratch.path("\(name)/take 1")
        try FileManager.default.createDirectory(atPath: take, withIntermediateDirectories: true)
        _ = try DuetFolder(
            take: take, name: "Blue Room", recordedBy: name, song: .file(song), program: "test",
            attempt: .init(number: 1, id: 7, key: CoreRig.key(1).hex))
        return Side(name: name, take: take)
    }

    @Test func `the last take of a song is found by its number`() throws {
        let scratch = try MixRig()
        #expect(TakeFolders.latest(in: scratch.folder) == nil)
        for name in ["take 1", "take 2", "take 10", "take 10 recording", "take x"] {
            let folder = scratch.path(name)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        #expect(TakeFolders.latest(in: scratch.folder) == scratch.path("take 10"))
        try Data().write(to: URL(fileURLWithPath: scratch.path("take 10/recording.json")))
        #expect(TakeFolders.latest(in: scratch.path("take 10")) == nil)
    }

    private func gaps(of singer: String, in take: String) throws -> [RecordingManifest.Gap] {
        try RecordingManifest(inFolder: take).tracks.first { $0.name == singer }?.gaps ?? []
    }

    @Test(arguments: [0, 1]) func `a killed singer loses a second at most, comes back in place, and has one gap`(
        killed: Int
    ) throws {
        let rig = try SungCallRig(drifts: [150, -150])
        func time(_ seconds: Double) -> HostTime { rig.simulation.start.advanced(bySeconds: seconds) }
        try rig.run(until: 1)
        for singer in rig.singers { singer.player.play(from: SongPosition(units: 0), at: time(1.5)) }
        try rig.run(until: 4.7)
        let killedFolder = try rig.kill(killed)
        try rig.run(until: 5.9)
        try rig.comeBack(killed)
        // In place: 1.5 s after the song's beginning it is at 4.8 s.
        rig.singers[killed].player.play(from: SongPosition(seconds: 4.8, rate: Self.rate), at: time(6.3))
        try rig.run(until: 11.2)
        rig.finish()

        let song = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        let scratch = try MixRig()
        let sides = try ["Anna", "Ben"].map { try makeTake(scratch, $0, song: song) }
        try FileManager.default.moveItem(atPath: killedFolder, toPath: "\(sides[killed].take) recording")
        for (index, singer) in rig.singers.enumerated() {
            let ending = index == killed ? " recording 2" : " recording"
            try FileManager.default.copyItem(atPath: singer.folder, toPath: sides[index].take + ending)
        }
        var stems: [String] = []
        for (index, side) in sides.enumerated() {
            let folders = TakeFolders(folder: side.take)
            #expect(folders.isUnfinished && folders.recordings.count == (index == killed ? 2 : 1))
            let finished = try folders.finish(program: "test")
            #expect(finished.singer == side.name && finished.stem.faults.isEmpty, "\(finished.stem.faults)")
            #expect(!TakeFolders(folder: side.take).isUnfinished)
            stems.append(finished.stem.path)
        }
        for (index, side) in sides.enumerated() {
            let copy = scratch.path("stem.flac")
            try FileManager.default.copyItem(atPath: stems[1 - index], toPath: copy)
            var duet = try DuetFolder(path: side.take)
            try duet.addStem(path: copy, singer: sides[1 - index].name, key: nil, isLocal: false)
        }

        for side in sides {
            #expect(try gaps(of: sides[1 - killed].name, in: side.take) == [])
            let found = try gaps(of: sides[killed].name, in: side.take)
            print("\(side.name)'s folder: gaps of \(sides[killed].name) \(found)")
            let gap = try #require(found.first)
            #expect(found.count == 1 && gap.reason == .away)
            // Killed after 3.2 s of the song, back at 4.8 s.
            #expect(Double(gap.frame) / Self.rate > 2.2)
            #expect(abs(Double(gap.frame + gap.frameCount) / Self.rate - 4.8) < 0.01)
            for (index, stem) in stems.enumerated() {
                let gaps = index == killed ? [Int64(gap.frame)..<Int64(gap.frame + gap.frameCount)] : []
                #expect(try SungCallRig.misalignment(MixRig.read(stem)[0], gaps: gaps) < 0.2)
            }
            let source = try MixSource(folder: side.take)
            #expect(source.voices.map(\.name).sorted().suffix(2).contains("Ben") && source.voices.count == 3)
            let mix = scratch.path("mix.wav")
            let result = try MixFile(source, MixSettings(for: source), encoding: .init()).write(to: mix, type: .rf64)
            #expect(result.faults.isEmpty)
        }
    }

    @Test func `a killed program that does not come back leaves a take that is finished later`() throws {
        let rig = try SungCallRig(drifts: [0, 0])
        try rig.run(until: 1)
        rig.singers[0].player.play(
            from: SongPosition(units: 0), at: rig.simulation.start.advanced(bySeconds: 1.5))
        try rig.run(until: 4.7)
        let folder = try rig.kill(0)
        let scratch = try MixRig()
        let take = scratch.path("Song/take 1")
        try FileManager.default.createDirectory(atPath: take, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: folder, toPath: "\(take) recording")
        let folders = TakeFolders(folder: "\(take)/")
        #expect(folders.isUnfinished && folders.folder == take)
        // The program was killed before it had copied the song, which is not there.
        #expect(throws: StemError.noSong(folder: take)) { _ = try folders.finish(program: "test") }
        // Another song of the same length is not the take's.
        let songs = scratch.path("Songs")
        try FileManager.default.createDirectory(atPath: songs, withIntermediateDirectories: true)
        let other = [Float](repeating: 0.1, count: SungCallRig.songLength)
        try MixRig.write([other], to: "\(songs)/Other.wav", rate: Self.rate)
        #expect(throws: StemError.noSong(folder: take)) { _ = try folders.finish(program: "test") }
        try FileManager.default.copyItem(atPath: "\(songs)/Other.wav", toPath: "\(take)/song.wav")
        #expect(throws: StemError.otherSong(folder: take + " recording")) { _ = try folders.finish(program: "test") }
        try FileManager.default.removeItem(atPath: "\(take)/song.wav")
        // A kill while the song was copied leaves a part of it, and an empty description.
        for name in ["recording.json", ".earshot-abcdef"] {
            #expect(FileManager.default.createFile(atPath: "\(take)/\(name)", contents: nil))
        }
        let song = try SungCallRig.writeSong()
        try FileManager.default.moveItem(atPath: song, toPath: "\(songs)/Song.wav")
        let finished = try folders.finish(program: "test")
        #expect(finished.singer == "Anna" && finished.stem.path == "\(take)/Anna.flac")
        let end = try #require(try gaps(of: "Anna", in: take).first).frame
        #expect(Double(end) / Self.rate > 2.2 && Double(end) / Self.rate < 3.2)
        #expect(!folders.isUnfinished && DuetFolder.songName == "song")
        #expect(try MixSource(folder: take).voices.map(\.name) == ["Song", "Anna"])
    }

    @Test func `a singer who comes back under another number is awaited once`() {
        var attempt = LiveDuet.Attempt(folder: "take 1", recordingFolders: [], sound: .file(""), songTitle: "")
        for (number, key) in [(2, 2), (3, 3), (2, 2), (4, 2)] as [(UInt64, UInt64)] {
            attempt.add(singer: CoreRig.id(number), key: CoreRig.key(key))
        }
        #expect(attempt.singers == [CoreRig.id(3), CoreRig.id(4)])
    }

    @Test func `a take is found by its number, its singer and its song only`() throws {
        let scratch = try MixRig()
        let song = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        let described = try SongFile.describe(song)
        for folder in ["2026-11-29 19.40 \(described.title)", "2026-11-29 19.50 \(described.title)"] {
            for take in 1...2 {
                let path = scratch.path("\(folder)/take \(take)")
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                let id = UInt64(take) * (folder.contains("19.40") ? 1 : 10)
                _ = try DuetFolder(
                    take: path, name: "Blue Room", recordedBy: "Anna", song: .file(song), program: "test",
                    attempt: .init(number: UInt32(take), id: id, key: "aa"))
            }
        }
        func find(_ id: UInt64, key: String = "aa", _ song: DuetSong) -> String? {
            TakeFolders.find(id: id, key: key, song: song, in: scratch.folder)?.folder
        }
        #expect(find(2, described) == scratch.path("2026-11-29 19.40 \(described.title)/take 2"))
        #expect(find(20, described) == scratch.path("2026-11-29 19.50 \(described.title)/take 2"))
        #expect(find(3, described) == nil && find(2, key: "bb", described) == nil)
        var other = described
        other.hash = String(repeating: "0", count: 64)
        #expect(find(2, other) == nil)
        func find(after hours: Double) -> String? {
            let now = Date().addingTimeInterval(3_600 * hours)
            return TakeFolders.find(id: 2, key: "aa", song: described, in: scratch.folder, at: now)?.folder
        }
        #expect(find(after: 0.9) != nil && find(after: 1.1) == nil)
    }

    @Test func `a killed singer's take of a beat is found by the beat, and finished without a file`() throws {
        let beat = SongFile.describe(Beat(tempo: 96), duration: 1.5)
        let other = SongFile.describe(Beat(tempo: 96, beatsPerBar: 3), duration: 1.5)
        let rig = try TakeFolderRig([MixRig.tone(440, 60_000)])
        try rig.add("Anna.take", [TakeFolderRig.piece(5_000, 40_000, song: 1_000)], songHash: beat.hash)
        _ = try rig.recording.source()
        let scratch = try MixRig()
        let take = scratch.path("2026-11-29 19.40 \(beat.title)/take 1")
        try FileManager.default.createDirectory(atPath: take, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: rig.recording.folder, toPath: "\(take) recording")
        _ = try DuetFolder(
            take: take, name: "Blue Room", recordedBy: "Anna", song: .beat(beat), program: "test",
            attempt: .init(number: 1, id: 7, key: "aa"))
        func find(_ song: DuetSong) -> String? {
            TakeFolders.find(id: 7, key: "aa", song: song, in: scratch.folder)?.folder
        }
        #expect(find(beat) == take && find(other) == nil)
        // The next take has no voice.
        for name in ["take 2", "take 2 recording"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path("2026-11-29 19.40 \(beat.title)/\(name)"), withIntermediateDirectories: true)
        }
        #expect(TakeFolders.unfinished(in: scratch.folder).map(\.folder) == [take])
        #expect(throws: StemError.otherSong(folder: "\(take) recording")) {
            _ = try AlignedStem.write(takesOf: ["\(take) recording"], song: .beat(other), to: scratch.path("x.flac"))
        }
        let folders = TakeFolders(folder: take)
        let stem = try folders.finish(program: "test").stem
        #expect(stem.frameCount == 72_000 && stem.faults.isEmpty && stem.gaps.map(\.frame) == [0, 41_000])
        #expect(!folders.isUnfinished)
        #expect(try MixSource(folder: take).voices.map(\.name) == ["Anna"])
    }
}
