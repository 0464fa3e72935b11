// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotNearby
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// A song in a call: its place in the playback, and its takes in a recording.
@Suite(.timeLimit(.minutes(10))) struct LiveCallSongTests {
    /// Bob in Ann's room, with media of the tests.
    private struct Call {
        let folder = NSTemporaryDirectory() + "earshot-live-song-\(UUID().uuidString)"
        let room = TestRoom()
        let media = TestMedia()
        let call: LiveCall
        let song: String

        init() async throws {
            song = try SungCallRig.writeSong()
            call = try LiveCall(LiveCall.Configuration(), room: room, sound: (media, TestDevice()))
            let call = call
            try call.perform(.join(CoreRig.endpoint))
            let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(2)))
            try #require(await happens { call.snapshot.isInRoom })
        }

        func record() async throws {
            let call = call
            try call.perform(.startRecording(folder: folder))
            try #require(await happens { call.snapshot.recording != nil })
        }

        func delete() {
            for path in [folder, song] { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    @Test func `each song that is opened during a recording has a take`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        let folder = rig.folder
        try await rig.record()
        #expect(try rig.call.openSong(.file(rig.song)).frameCount == SungCallRig.songLength)
        #expect(await happens { FileManager.default.fileExists(atPath: "\(folder)/Bob.take") })
        _ = try rig.call.openSong(.file(rig.song))
        #expect(await happens { FileManager.default.fileExists(atPath: "\(folder)/Bob 2.take") })
        rig.call.closeSong()
        rig.call.closeSong()
        await rig.call.close()
        #expect(rig.media.asked.filter { $0.hasSuffix("song") } == ["song", "no song", "song", "no song"])
        let manifest = try RecordingManifest(inFolder: folder)
        #expect(manifest.tracks.map(\.takes) == [["Bob.take", "Bob 2.take"], nil, nil])
    }

    @Test func `a recording that begins during a song has its take, and the call's end closes the song`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        let folder = rig.folder
        _ = try rig.call.openSong(.file(rig.song))
        try await rig.record()
        #expect(await happens { FileManager.default.fileExists(atPath: "\(folder)/Bob.take") })
        await rig.call.close()
        #expect(rig.media.asked.filter { $0.hasSuffix("song") } == ["song", "no song"])
    }

    @Test(arguments: [false, true]) func `a take names its song, or its beat, by the hash`(isBeat: Bool) async throws {
        let rig = try await Call()
        defer { rig.delete() }
        let song = try isBeat ? SongFile.describe(Beat(tempo: 96), duration: 60) : SongFile.describe(rig.song)
        let (sound, take) = (try #require(DuetSound(song, path: rig.song)), "\(rig.folder)/Bob.take")
        try await rig.record()
        _ = try rig.call.openSong(sound, of: song)
        #expect(await happens { (try? Take(path: take))?.description.songHash == song.hash })
        await rig.call.close()
    }

    @Test func `a song that cannot be opened leaves the present one`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        _ = try rig.call.openSong(.file(rig.song))
        do {
            _ = try rig.call.openSong(.file("/none.wav"))
            Issue.record("a missing file was opened")
        } catch {
            guard case .file(.missing(path: "/none.wav")) = error else { throw error }
        }
        #expect(rig.media.asked.filter { $0.hasSuffix("song") } == ["song"])
        await rig.call.close()
    }
}
