// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall

/// A stem from the takes of several recordings.
@Suite struct AlignedRecordingsTests {
    private let scratch: MixRig
    private var song: String { scratch.path("song.wav") }
    private static let length = 48_000

    init() throws {
        scratch = try MixRig()
        try MixRig.write([MixRig.tone(440, Self.length)], to: song)
    }

    /// Writes a recording whose local voice was sung from a position of the song on.
    private func record(
        _ name: String, _ sound: [Float], rate: Double = 48_000, song: Int, pieceLength: Int, hash: String? = nil,
        hostTime: Int64 = 0
    ) throws -> String {
        let recording = try MixRig()
        try recording.add("Anna", [sound], rate: rate)
        (recording.manifest.sampleRate, recording.manifest.tracks[0].takes) = (Int(rate), ["Anna.take"])
        _ = try recording.source()
        let writer = try TakeWriter(
            path: recording.path("Anna.take"),
            TakeDescription(
                file: "Anna.wav", singer: "Anna", number: 1, sampleRate: rate, songSampleRate: 48_000, songHash: hash))
        let piece = SongMap.Piece(
            frame: 0, frameCount: Int64(pieceLength), position: SongPosition(frame: Int64(song)),
            rate: Int64((Double(SongPosition.unitsPerFrame) * 48_000 / rate).rounded()),
            hostTime: HostTime(nanoseconds: hostTime))
        try writer.write([.gap(.init(frame: 0, frameCount: 0, reason: .stopped)), .piece(piece)])
        try writer.close()
        let folder = scratch.path(name)
        try FileManager.default.moveItem(atPath: recording.folder, toPath: folder)
        return folder
    }

    private func write(_ folders: [String]) throws -> AlignedStem {
        try AlignedStem.write(takesOf: folders, song: .file(song), to: scratch.path("stem.flac"))
    }

    @Test func `recordings of different rates are one stem with one gap between them`() throws {
        let first = try record("first", MixRig.tone(300, 30_000), song: 0, pieceLength: 20_000)
        let tone = (0..<22_050).map { sine($0, frequency: 300, rate: 44_100, amplitude: 0.2) }
        let second = try record("second", tone, rate: 44_100, song: 24_000, pieceLength: 22_050)
        let stem = try write([first, second])
        #expect(stem.faults.isEmpty && stem.gaps == [.init(frame: 20_000, frameCount: 4_000, reason: .unknown)])
        let sound = try MixRig.read(stem.path)[0]
        let sung = MixRig.tone(300, Self.length)
        #expect(errorDecibels(Array(sung[1_000..<19_000]), Array(sound[1_000..<19_000])) < -90)
        #expect(errorDecibels(Array(sung[1_000..<23_000]), Array(sound[25_000..<47_000])) < -60)
        #expect(sound[20_000..<24_000].allSatisfy { $0 == 0 })
    }

    @Test func `of a passage in two recordings the later one counts, whatever the clocks say`() throws {
        let first = try record(
            "first", [Float](repeating: 0.1, count: 48_000), song: 0, pieceLength: 48_000, hostTime: 5_000)
        let second = try record("second", [Float](repeating: 0.3, count: 48_000), song: 10_000, pieceLength: 20_000)
        for (folders, level) in [([first, second], 0.3), ([second, first], 0.1)] as [([String], Float)] {
            let stem = try write(folders)
            #expect(abs(try MixRig.read(stem.path)[0][20_000] - level) < 1e-4 && stem.gaps.isEmpty)
        }
    }

    @Test func `a recording that is missing, or of another song of the same rate, is named, and the other is used`()
        throws
    {
        let hash = try SongFile.hash(song, limit: .max).hash
        let sound = [Float](repeating: 0.1, count: 48_000)
        let own = try record("own", sound, song: 0, pieceLength: 48_000, hash: hash)
        let old = try record("old", sound, song: 0, pieceLength: 48_000)
        let other = try record(
            "other", sound, song: 0, pieceLength: 48_000, hash: String(repeating: "0", count: 64))
        let missing = scratch.path("missing")
        let stem = try write([missing, other, own])
        #expect(
            stem.faults == [
                .recording(.noFolder(missing)),
                .otherSong(take: "Anna.take", sampleRate: 48_000, lastFrame: 48_000),
            ])
        #expect(abs(try MixRig.read(stem.path)[0][20_000] - 0.1) < 1e-4)
        #expect(try write([old]).faults.isEmpty)
        #expect(throws: StemError.otherSong(folder: other)) { _ = try write([other]) }
        #expect(throws: StemError.recording(.noFolder(missing))) { _ = try write([missing]) }
    }

    @Test func `a stem lists its gaps for others, and a stranger's list never traps`() throws {
        let folder = try record("own", [Float](repeating: 0.1, count: 48_000), song: 5_000, pieceLength: 20_000)
        let stem = try write([folder])
        #expect(stem.gaps.count == 2 && StemGaps.read(stem.path) == stem.gaps)
        for text in [
            "no JSON", "[]", #"[{"frame":1e99,"frameCount":1}]"#, #"[{"frame":5,"frameCount":-7,"reason":"away"}]"#,
            #"[{"frame":-9223372036854775808,"frameCount":9223372036854775807},{"frame":9223372036854775807,"frameCount":5}]"#,
            "[" + String(repeating: #"{"frame":1,"frameCount":1},"#, count: 20_000) + #"{"frame":1,"frameCount":1}]"#,
        ] {
            var tags = AudioFileTags()
            tags["EARSHOT_GAPS"] = text
            try tags.write(to: stem.path)
            let gaps = DuetFolder.described(StemGaps.read(stem.path), Self.length)
            #expect(gaps.allSatisfy { $0.frame >= 0 && $0.frame + $0.frameCount <= Self.length }, "\(gaps)")
        }
    }
}
