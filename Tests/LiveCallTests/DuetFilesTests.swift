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

/// The files and the folder of a duet, in a call with a room and media of the tests. Ann hosts; Bob and Cid are in the room.
@Suite(.timeLimit(.minutes(10))) struct DuetFilesTests {
    private struct Rig {
        let folder = NSTemporaryDirectory() + "earshot-duet-files-\(UUID().uuidString)"
        let room = TestRoom()
        let call: LiveCall
        let songPath: String
        let song: DuetSong

        /// - Parameter change: changes what is known of the song's file.
        init(hidesSong: Bool = false, _ change: (inout DuetSong) -> Void = { _ in }) async throws {
            var configuration = LiveCall.Configuration()
            configuration.duetFolder = folder
            configuration.announcesSong = !hidesSong
            call = try LiveCall(configuration, room: room, sound: (TestMedia(), TestDevice()))
            songPath = try SungCallRig.writeSong()
            var song = try SongFile.describe(songPath)
            change(&song)
            self.song = song
            let call = call
            try call.perform(.host(RoomOpening(name: CoreRig.name(1))))
            let roster = CoreRig().makeRoster((1...3).map { CoreRig.member($0) }, host: 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(1)))
            try #require(await happens { call.snapshot.isInRoom })
            call.choose(song, path: songPath)
            try #require(await happens { call.duetStatus?.duet.phase == .agreeing })
        }

        var messages: [DuetMessage] { room.sentDatagrams.withLock { $0.compactMap { DuetMessage($0) } } }

        /// A singer says something, until it is known.
        func say(_ message: DuetMessage, by number: UInt64) async {
            let (id, call, room) = (CoreRig.id(number), call, room)
            var message = message
            message.presentSong = song.hash
            let known = message
            #expect(
                await happens {
                    room.datagramContinuation.yield(NearbyDatagram(sender: id, bytes: known.bytes))
                    return call.duetStatus?.duet.singers.contains { $0.member == id && $0.stem == known.stem } == true
                })
        }

        /// Announces the stem of an attempt.
        func announce(_ hash: SHA256Digest, of attempt: UInt32, by number: UInt64) async {
            var message = DuetMessage()
            message.stem = DuetStem(attempt: attempt, byteCount: 100, hash: hash.hex)
            await say(message, by: number)
        }

        /// Adds an attempt that is over, with these singers and the stems of some of them.
        func addAttempt(_ number: UInt32, singers: Set<MemberID>, stems: Set<MemberID> = []) throws {
            let take = "\(folder)/take \(number)"
            var files = LiveDuet.Attempt(
                folder: take, recordingFolders: ["\(take) recording"], sound: .file(songPath), songTitle: "Song")
            (files.singers, files.stems) = (singers, stems)
            (files.isOver, files.isStemRequested, files.isMixRequested) = (true, true, true)
            try FileManager.default.createDirectory(
                atPath: files.recordingFolder, withIntermediateDirectories: true)
            let added = files
            call.duet.withLock { $0[number] = added }
        }

        func close() async {
            await call.close()
            for path in [folder, songPath] { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    private let hash = SHA256Digest(of: [1, 2, 3])
    private let bob = CoreRig.id(2)
    private let cid = CoreRig.id(3)

    private func offer(from member: MemberID) -> FileReception {
        FileReception(FileOffer(name: "Voice.flac", size: 100), hash, from: member, TransferLimits()) { _ in }
    }

    @Test func `a voice with the bytes of an earlier take arrives`() async throws {
        let rig = try await Rig()
        try rig.addAttempt(1, singers: [bob], stems: [bob])
        try rig.addAttempt(2, singers: [bob])
        rig.call.duet.withLock { $0.announcementTime = 600 }
        await rig.announce(hash, of: 1, by: 2)
        // The offer comes before the announcement of the second take.
        let offer = offer(from: bob)
        let reception = Task { await rig.call.receiveForDuet(IncomingFile(offer), from: bob) }
        try await Task.sleep(for: .milliseconds(200))
        #expect(!offer.isOver && !offer.isWaiting)
        await rig.announce(hash, of: 2, by: 2)
        #expect(await happens { offer.isWaiting || offer.isOver })
        #expect(offer.isWaiting)
        offer.fail(.gone)
        #expect(await reception.value)
        await rig.close()
    }

    @Test func `a voice of the earlier song arrives after the next one was chosen`() async throws {
        let rig = try await Rig()
        try rig.addAttempt(1, singers: [bob])
        rig.call.choose(SongFile.describe(Beat(tempo: 96), duration: 1), path: nil)
        #expect(await happens { rig.call.duetStatus?.duet.song?.isBeat == true })
        await rig.announce(hash, of: 1, by: 2)
        let offer = offer(from: bob)
        let reception = Task { await rig.call.receiveForDuet(IncomingFile(offer), from: bob) }
        #expect(await happens { offer.isWaiting || offer.isOver })
        #expect(offer.isWaiting)
        offer.fail(.gone)
        #expect(await reception.value)
        await rig.close()
    }

    @Test func `the next song is read and chosen, and one that cannot be read is a problem`() async throws {
        let rig = try await Rig()
        let path = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try rig.call.perform(DuetOrder.chooseSong(path: "/none.wav", beat: nil))
        #expect(
            await happens {
                rig.call.duetStatus?.problems.contains {
                    if case .unreadable("/none.wav", _) = $0 { true } else { false }
                }
                    == true
            })
        #expect(rig.call.duetStatus?.duet.song == rig.song)
        let waltz = Beat(tempo: 160, beatsPerBar: 3)
        try rig.call.perform(DuetOrder.chooseSong(path: path, beat: waltz))
        #expect(await happens { rig.call.duetStatus?.duet.song?.beat == waltz })
        let duet = try #require(rig.call.duetStatus?.duet)
        #expect(duet.attempt == 2 && duet.take == 1 && duet.phase == .agreeing)
        await rig.close()
    }

    @Test func `a voice that is here already is declined`() async throws {
        let rig = try await Rig()
        try rig.addAttempt(1, singers: [bob], stems: [bob])
        await rig.announce(hash, of: 1, by: 2)
        let offer = offer(from: bob)
        #expect(await rig.call.receiveForDuet(IncomingFile(offer), from: bob))
        #expect(await happens { offer.isOver })
        await rig.close()
    }

    @Test func `a file that no take can ask for is not of the duet`() async throws {
        let rig = try await Rig()
        try rig.addAttempt(1, singers: [bob], stems: [bob])
        rig.call.duet.withLock { $0.announcementTime = 600 }
        #expect(await !rig.call.receiveForDuet(IncomingFile(offer(from: bob)), from: bob))
        #expect(await !rig.call.receiveForDuet(IncomingFile(offer(from: cid)), from: cid))
        await rig.close()
    }

    @Test func `a voice of a take that was left is declined`() async throws {
        let rig = try await Rig()
        rig.call.duet.withLock { duet in
            duet.announcementTime = 600
            duet.core?.leaveUnrecorded(1)
        }
        let offer = offer(from: bob)
        let reception = Task { await rig.call.receiveForDuet(IncomingFile(offer), from: bob) }
        await rig.announce(hash, of: 1, by: 2)
        #expect(await reception.value && offer.isOver)
        await rig.close()
    }

    @Test func `equal voices of two singers arrive one after the other`() async throws {
        let rig = try await Rig()
        try rig.addAttempt(1, singers: [bob, cid])
        for number: UInt64 in [2, 3] { await rig.announce(hash, of: 1, by: number) }
        let offers = [offer(from: bob), offer(from: cid)]
        let receptions = offers.map { offer in
            Task { await rig.call.receiveForDuet(IncomingFile(offer), from: offer.member) }
        }
        #expect(await happens { offers.contains(where: \.isWaiting) })
        try await Task.sleep(for: .milliseconds(200))
        #expect(offers.count(where: \.isWaiting) == 1 && rig.call.duetStatus?.problems.isEmpty == true)
        offers.first(where: \.isWaiting)?.fail(.gone)
        #expect(await happens { offers.count(where: \.isOver) == 1 && offers.contains(where: \.isWaiting) })
        offers.first(where: \.isWaiting)?.fail(.gone)
        for reception in receptions { #expect(await reception.value) }
        await rig.close()
    }

    @Test func `nobody agrees to a take whose folder cannot be written`() async throws {
        let rig = try await Rig()
        let folder = rig.folder
        try "no folder".write(toFile: folder, atomically: true, encoding: .utf8)
        for order in [DuetOrder.agree(true), .singAgain] {
            #expect(throws: DuetRefusal.folder(path: folder, code: 20)) { try rig.call.perform(order) }
        }
        #expect(rig.call.duetStatus?.duet.hasAgreed == false && rig.call.duetStatus?.duet.attempt == 1)
        try rig.call.perform(DuetOrder.agree(false))
        await rig.close()
    }

    @Test func `nobody agrees to a take for which the disk has too little space`() async throws {
        let rig = try await Rig { $0.byteCount = 1 << 60 }
        do throws(DuetRefusal) {
            try rig.call.perform(DuetOrder.agree(true))
            Issue.record("agreed")
        } catch {
            guard case .noSpace(let path, let needed, let free) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(path == rig.folder && needed > 1 << 60 && free < needed && free > 0)
        }
        #expect(rig.call.duetStatus?.duet.hasAgreed == false)
        // 192 s of one voice with 32 bits, two stems with 24 bits and the mix, the song, and 32 MiB.
        let song = DuetSong(name: "a", byteCount: 1_000_000, hash: rig.song.hash, duration: 192)
        #expect(LiveCall.neededSpace(for: song, voices: 2) == 192 * (192_000 + 288_000 + 40_000) + 1_000_000 + 32 << 20)
        await rig.close()
    }

    @Test(arguments: [false, true])
    func `the room's announcement has the song, unless the one who chose it hides it`(isHidden: Bool) async throws {
        let rig = try await Rig(hidesSong: isHidden)
        let (room, title) = (rig.room, rig.song.title)
        if isHidden {
            #expect(await happens { rig.messages.last?.song != nil })
            // A member who becomes the host later knows it too.
            #expect(rig.messages.allSatisfy { $0.song?.isHidden ?? true })
            try await Task.sleep(for: .milliseconds(300))
            #expect(!room.asked.contains { $0.hasPrefix("song ") })
        } else {
            #expect(await happens { room.asked.contains("song \(title), part 2 free") })
        }
        await rig.close()
    }

    @Test(arguments: [false, true])
    func `a singer whose take cannot be written leaves it, and the others are told`(isLate: Bool) async throws {
        let rig = try await Rig()
        let (call, folder) = (rig.call, rig.folder)
        // Without media, the host would wait some seconds for delays.
        try call.perform(DuetOrder.setMode(.together))
        try call.perform(DuetOrder.agree(true))
        if !isLate { try "no folder".write(toFile: folder, atomically: true, encoding: .utf8) }
        var answer = DuetMessage()
        answer.agreement = 1
        await rig.say(answer, by: 2)
        await rig.say(answer, by: 3)
        if isLate {
            try #require(await happens { call.snapshot.recording != nil })
            call.noteRecordingFailure(.file(.notAudio(path: "x", reason: "the disk is full")))
        }
        #expect(await happens { call.duetStatus?.duet.hasLeft == true })
        #expect(await happens { rig.messages.last?.unrecorded == 1 })
        #expect(rig.messages.last?.agreement == nil)
        #expect(await happens { call.snapshot.recording == nil })
        let problems = call.duetStatus?.problems.map { "\($0)" } ?? []
        #expect(problems.contains("recordingLost"), "\(problems)")
        #expect(problems.contains { $0.hasPrefix("folder(") } == !isLate, "\(problems)")
        await rig.close()
        await call.finishTakes()
        #expect(call.duetTakeResults == (isLate ? [.nothing] : []))
    }

    @Test func `a folder that cannot be written is a problem once`() {
        var duet = LiveDuet()
        for path in ["/a", "/a", "/b", "/a"] { duet.note(.folder(path: path, code: 13)) }
        duet.note(.noSound)
        duet.note(.noSound)
        #expect(duet.problems.count == 4)
    }

    @Test func `the result of a take is its mix, or the voices in its folder, or the recording`() async throws {
        let rig = try await Rig()
        for number: UInt32 in 1...4 { try rig.addAttempt(number, singers: [bob], stems: number == 2 ? [bob] : []) }
        rig.call.duet.withLock { $0[1]?.mixPath = "/mix.m4a" }
        let recording = "\(rig.folder)/take 3 recording"
        for (folder, size) in [(recording, 10_000), ("\(rig.folder)/take 4 recording", 100)] {
            try Data(count: size).write(to: URL(fileURLWithPath: "\(folder)/Ann.wav"))
        }
        let results = rig.call.duetTakeResults
        #expect(
            results == [
                .mix(path: "/mix.m4a"), .voices(folder: "\(rig.folder)/take 2"), .recording(folder: recording),
                .nothing,
            ])
        await rig.close()
    }
}

/// The work that is left for an attempt's files.
@Suite struct DuetAttemptTests {
    private let bob = CoreRig.id(2)
    private let cid = CoreRig.id(3)

    @Test func `an attempt is busy only with singers who are present`() {
        var files = LiveDuet.Attempt(
            folder: "/take 1", recordingFolders: ["/take 1 recording"], sound: .file("/song"), songTitle: "Song")
        files.singers = [bob, cid]
        #expect(!files.isBusy(with: [bob, cid]))
        files.isOver = true
        #expect(files.isBusy(with: []))
        (files.stemTime, files.receivers) = (HostTime(nanoseconds: 0), [cid])
        #expect(files.isBusy(with: [bob]))  // Bob's voice may arrive
        files.stems = [bob]
        #expect(files.isBusy(with: [cid]) && !files.isBusy(with: [bob]))
        files.isMixRequested = true
        #expect(files.isBusy(with: [bob]))
        files.isMixed = true
        #expect(!files.isBusy(with: [bob]))
        #expect(files.isBusy(with: [cid]))
        files.receivers = []
        #expect(files.isBusy(with: [cid]))  // a late voice makes another mix
        files.stems = [bob, cid]
        #expect(!files.isBusy(with: [bob, cid]))
    }

    @Test func `a duet is busy from the song's end on, also before its recording ends`() throws {
        var duet = LiveDuet()
        var core = DuetCore(own: CoreRig.id(1), singer: 1)
        core.setMembers([CoreRig.id(1), bob], host: CoreRig.id(1))
        try core.choose(SongFile.describe(Beat(tempo: 240), duration: 1), at: .now())
        var now = HostTime.now()
        func wait(_ seconds: Double) {
            for _ in 0..<Int(seconds * 20) {
                now = now.advanced(bySeconds: 0.05)
                var message = DuetMessage()
                (message.singer, message.presentSong, message.agreement) = (2, core.song?.hash, 1)
                core.receive(message.bytes, from: bob, at: now)
                _ = core.tick(at: now)
            }
            duet.core = core
        }
        wait(0.2)
        try core.setMode(.together)
        try core.agree()
        wait(4)
        #expect(duet.status(at: now)?.duet.phase == .singing && duet.status(at: now)?.isBusy == false)
        var files = LiveDuet.Attempt(
            folder: "/take 1", recordingFolders: ["/take 1 recording"], sound: .file("/song"), songTitle: "Song")
        files.singers = [bob]
        duet[1] = files
        #expect(duet.status(at: now)?.isBusy == false)
        wait(1)
        let ended = try #require(duet.status(at: now))
        #expect(ended.duet.phase == .ended && ended.isBusy && ended.isSending && ended.awaitedSingers == [bob])
        duet[1]?.isOver = true
        duet[1]?.stemTime = now
        #expect(duet.status(at: now)?.isSending == false && duet.status(at: now)?.isBusy == true)
        duet[1]?.receivers = [bob]
        #expect(duet.status(at: now)?.isSending == true)
    }

    @Test func `a mix can be made again with another preset, once there is one`() throws {
        var duet = LiveDuet()
        let now = HostTime(nanoseconds: 5)
        let stage = try #require(MixPreset.named("stage"))
        #expect(throws: DuetRefusal.noSong) { try duet.mixAgain(at: now) { $0.preset = stage } }
        duet.core = DuetCore(own: CoreRig.id(1), singer: 1)
        duet.core?.setMembers([CoreRig.id(1)], host: CoreRig.id(1))
        try duet.core?.choose(SongFile.describe(Beat(tempo: 96), duration: 60), at: .now())
        #expect(throws: DuetRefusal.mixMissing) { try duet.mixAgain(at: now) { $0.preset = stage } }
        var files = LiveDuet.Attempt(
            folder: "/take 1", recordingFolders: ["/take 1 recording"], sound: .file("/song"), songTitle: "Song")
        (files.isOver, files.stemTime, files.isMixRequested, files.isMixed) = (true, now, true, true)
        duet[1] = files
        #expect(throws: DuetRefusal.mixMissing) { try duet.mixAgain(at: now) { $0.preset = stage } }
        duet[1]?.mixPath = "/take 1/mix.m4a"
        try duet.mixAgain(at: now) { $0.preset = stage }
        #expect(duet[1]?.needsMix(at: now, with: [bob, cid]) == true && duet[1]?.preset == stage)
        #expect(duet.status(at: now)?.mixPreset == .standard && duet.status(at: now)?.isBusy == true)
        // More changes of the balance may follow.
        duet[1]?.balance.voices = [.init(name: "Ann"), .init(name: "song", isSong: true)]
        try duet.mixAgain(at: now.advanced(bySeconds: 1)) { _ = $0.balance.setDecibels(-100, of: "SONG") }
        #expect(duet[1]?.needsMix(at: now.advanced(bySeconds: 0.9), with: []) == false)
        #expect(duet[1]?.needsMix(at: now.advanced(bySeconds: 1), with: []) == true)
        #expect(duet.status(at: now)?.balance.voices.map(\.decibels) == [0, -24])
        let isKnown = duet[1]?.balance.setDecibels(1, of: "Cid")
        #expect(isKnown == false)
    }

    @Test func `a mix does not wait for a singer who cannot record`() {
        var files = LiveDuet.Attempt(
            folder: "/take 1", recordingFolders: ["/take 1 recording"], sound: .file("/song"), songTitle: "Song")
        (files.singers, files.stems, files.stemTime) = ([bob, cid], [bob], HostTime(nanoseconds: 0))
        let now = HostTime(nanoseconds: 1_000_000_000)
        files.isOver = true
        #expect(!files.needsMix(at: now, with: [bob, cid]))
        // A singer who has left is not awaited for long, since nothing arrives before a return.
        let later = now.advanced(bySeconds: 3)
        #expect(files.needsMix(at: later, with: [bob]) && !files.needsMix(at: later, with: [bob, cid]))
        #expect(files.needsMix(at: now.advanced(bySeconds: 30), with: [bob, cid]))
        files.unableSingers = [cid]
        #expect(files.needsMix(at: now, with: [bob, cid]))
        // The voice of another singer's turn is awaited from the end of the song.
        files.isOver = false
        #expect(!files.needsMix(at: now, with: [bob, cid]))
        (files.isOver, files.isSung, files.stems, files.singers) = (true, false, [], [])
        #expect(!files.needsMix(at: now, with: [bob, cid]) && !files.hasVoice)
        files.stems = [bob]
        #expect(files.needsMix(at: now, with: [bob, cid]))
    }
}
