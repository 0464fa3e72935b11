// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotNearby
@testable import EarshotRooms

/// A duet in a call with a room and media of the tests.
@Suite(.timeLimit(.minutes(10))) struct LiveDuetTests {
    /// Ann's room, with Bob in it, on Ann's side.
    private struct Rig {
        let folder = NSTemporaryDirectory() + "earshot-live-duet-\(UUID().uuidString)"
        let room = TestRoom()
        let media = TestMedia()
        let call: LiveCall

        init(isHost: Bool = true) async throws {
            var configuration = LiveCall.Configuration()
            configuration.duetFolder = folder
            call = try LiveCall(configuration, room: room, sound: (media, TestDevice()))
            let call = call
            if isHost {
                try call.perform(.host(RoomOpening(name: CoreRig.name(1))))
            } else {
                try call.perform(.join(CoreRig.endpoint))
            }
            let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(isHost ? 1 : 2)))
            try #require(await happens { call.snapshot.isInRoom })
        }

        /// The last message that the call sent; nil before.
        func message() -> DuetMessage? { room.sentDatagrams.withLock { $0.last.flatMap { DuetMessage($0) } } }

        func receive(_ message: DuetMessage, from number: UInt64) {
            room.datagramContinuation.yield(NearbyDatagram(sender: CoreRig.id(number), bytes: message.bytes))
        }

        func delete() { try? FileManager.default.removeItem(atPath: folder) }
    }

    @Test func `a call without a song sends nothing`() async throws {
        let rig = try await Rig()
        try await Task.sleep(for: .milliseconds(300))
        #expect(rig.call.duetStatus == nil && rig.message() == nil)
        #expect(throws: DuetRefusal.noSong) { try rig.call.perform(DuetOrder.agree(true)) }
        await rig.call.close()
    }

    @Test func `a host's song is announced, opened, and begins once the guest agrees`() async throws {
        let rig = try await Rig()
        defer { rig.delete() }
        let song = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        rig.call.choose(try SongFile.describe(song), path: song)
        #expect(await happens { rig.message()?.presentSong != nil })
        let announced = try #require(rig.message()?.song)
        #expect(announced.duration == 9 && announced.name == song.split(separator: "/").last.map(String.init))
        #expect(rig.media.asked.contains("song"))
        // Without media, the host would wait some seconds for delays.
        try rig.call.perform(DuetOrder.setMode(.together))
        try rig.call.perform(DuetOrder.agree(true))
        #expect(rig.call.snapshot.allowsRecording == true)
        var answer = DuetMessage()
        (answer.presentSong, answer.agreement) = (announced.hash, 1)
        rig.receive(answer, from: 3)  // not in the room
        try await Task.sleep(for: .milliseconds(200))
        #expect(rig.call.duetStatus?.duet.phase == .agreeing && rig.call.duetStatus?.duet.singers == [])
        rig.receive(answer, from: 2)
        #expect(
            await happens {
                if case .counting? = rig.call.duetStatus?.duet.phase { true } else { false }
            })
        let folder = rig.folder
        #expect(
            await happens {
                rig.call.snapshot.recording?.folder.hasPrefix(folder) == true
                    && rig.call.snapshot.recording?.folder.hasSuffix("/take 1 recording") == true
            })
        await rig.call.close()
    }

    @Test(arguments: [false, true])
    func `a program that comes back records beside the take of the killed one`(isBeat: Bool) async throws {
        let rig = try await Rig()
        defer { rig.delete() }
        let path = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let song = try isBeat ? SongFile.describe(Beat(tempo: 96), duration: 60) : SongFile.describe(path)
        let take = "\(rig.folder)/2026-11-29 19.40 \(song.title)/take 1"
        try FileManager.default.createDirectory(atPath: take, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: "\(take) recording", withIntermediateDirectories: true)
        let key = try #require(rig.call.snapshot.localParticipant?.key)
        _ = try DuetFolder(
            take: take, name: "Room", recordedBy: "Ann", song: #require(DuetSound(song, path: path)), program: "test",
            attempt: .init(number: 1, id: 7, key: key.hex))
        rig.call.choose(song, path: path)
        #expect(await happens { rig.message()?.presentSong != nil })
        // Another member has sung the attempt all the time.
        var message = DuetMessage()
        var transport = DuetTransport()
        (transport.revision, transport.id, transport.state) = (100, 7, .playing)
        transport.time = HostTime.now().advanced(bySeconds: -2).nanoseconds
        (message.presentSong, message.agreement, message.transport) = (song.hash, 1, transport)
        rig.receive(message, from: 2)
        #expect(await happens { rig.call.duetStatus?.duet.attemptID == 7 })
        try rig.call.perform(DuetOrder.agree(true))
        #expect(await happens { rig.call.snapshot.recording?.folder == "\(take) recording 2" })
        await rig.call.close()
        #expect(TakeFolders(folder: take).recordings.count == 2)
    }

    @Test func `a file that is no song is a problem, and the call goes on`() async throws {
        let rig = try await Rig()
        defer { rig.delete() }
        try FileManager.default.createDirectory(atPath: rig.folder, withIntermediateDirectories: true)
        let text = "\(rig.folder)/text.wav"
        try "no sound".write(toFile: text, atomically: true, encoding: .utf8)
        for (path, beginning) in [(text, "song("), ("/none.wav", "unreadable(path: \"/none.wav\", code: 2")] {
            do throws(DuetProblem) {
                _ = try SongFile.describe(path)
                Issue.record("\(path) was read")
            } catch { #expect("\(error)".hasPrefix(beginning), "\(error)") }
        }
        // A song whose file vanishes is no longer present.
        let song = DuetSong(name: "x.wav", byteCount: 5, hash: String(repeating: "0", count: 64), duration: 3)
        rig.call.choose(song, path: "/none.wav")
        #expect(await happens { rig.call.duetStatus?.problems.count == 1 })
        #expect(await happens { rig.message().map { $0.song == song && $0.presentSong == nil } ?? false })
        #expect(throws: DuetRefusal.songMissing) { try rig.call.perform(DuetOrder.agree(true)) }
        #expect(rig.call.snapshot.ending == nil)
        await rig.call.close()
    }

    @Test func `a song that is too short is refused, and of one that is cut off both sides are told`() async throws {
        let path = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let (size, header) = (try handle.seekToEnd(), UInt64(4_096))
        try handle.truncate(atOffset: size / 2)
        let song = try SongFile.describe(path)
        #expect(abs(song.duration - 4.5) < 0.1)
        for isHost in [true, false] {
            let rig = try await Rig(isHost: isHost)
            defer { rig.delete() }
            if isHost {
                rig.call.choose(song, path: path)
            } else {
                let songs = "\(rig.folder)/Songs"
                try FileManager.default.createDirectory(atPath: songs, withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: path, toPath: "\(songs)/\(song.name)")
                var message = DuetMessage()
                message.song = song
                let first = message
                #expect(
                    await happens {
                        rig.receive(first, from: 1)
                        return rig.call.duetStatus?.duet.song != nil
                    })
            }
            #expect(
                await happens {
                    rig.call.duetStatus?.problems.contains {
                        if case .cutOff(name: song.name, duration: song.duration) = $0 { true } else { false }
                    } == true
                })
            #expect(rig.call.duetStatus?.duet.phase == .agreeing)
            await rig.call.close()
        }
        try handle.truncate(atOffset: header)
        do throws(DuetProblem) {
            _ = try SongFile.describe(path)
            Issue.record("a short song was accepted")
        } catch {
            guard case .tooShort(path: path, limit: 1) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `a guest opens a song from an earlier duet without receiving it`() async throws {
        let rig = try await Rig(isHost: false)
        defer { rig.delete() }
        let song = try SungCallRig.writeSong()
        let songs = "\(rig.folder)/Songs"
        try FileManager.default.createDirectory(atPath: songs, withIntermediateDirectories: true)
        let name = try #require(song.split(separator: "/").last.map(String.init))
        try FileManager.default.moveItem(atPath: song, toPath: "\(songs)/\(name)")
        var message = DuetMessage()
        message.song = try SongFile.describe("\(songs)/\(name)")
        // A song of the same name with other bytes is not that song.
        var other = message
        other.song?.hash = String(repeating: "0", count: 64)
        let (first, second) = (other, message)
        // A message that comes before the call is ready is followed by others.
        #expect(
            await happens {
                rig.receive(first, from: 1)
                return rig.call.duetStatus?.duet.phase == .gettingSong
            })
        #expect(
            await happens {
                rig.receive(second, from: 1)
                return rig.message()?.presentSong == second.song?.hash
            })
        #expect(rig.call.duetStatus?.duet.phase == .agreeing)
        #expect(throws: DuetRefusal.notStarted) { try rig.call.perform(DuetOrder.pause) }
        await rig.call.close()
    }

    @Test func `a guest makes a beat by itself, and takes part at once`() async throws {
        let rig = try await Rig(isHost: false)
        defer { rig.delete() }
        var message = DuetMessage()
        let beat = SongFile.describe(Beat(tempo: 96), duration: 300)
        message.song = beat
        let first = message
        #expect(
            await happens {
                rig.receive(first, from: 1)
                return rig.message()?.presentSong == beat.hash && rig.media.asked.contains("song")
            })
        #expect(rig.call.duetStatus?.duet.phase == .agreeing && rig.call.duetStatus?.duet.song?.duration == 300)
        try rig.call.perform(DuetOrder.agree(true))
        #expect(rig.call.duetStatus?.problems.isEmpty == true)
        await rig.call.close()
    }

    @Test func `a host's beat is announced without a file`() async throws {
        let rig = try await Rig()
        defer { rig.delete() }
        let beat = SongFile.describe(Beat(tempo: 96, beatsPerBar: 3), duration: 60)
        rig.call.choose(beat, path: nil)
        #expect(await happens { rig.message()?.song == beat && rig.message()?.presentSong == beat.hash })
        #expect(await happens { rig.media.asked.contains("song") })
        #expect(rig.call.duetStatus?.problems.isEmpty == true)
        await rig.call.close()
    }
}
