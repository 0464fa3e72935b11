// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// The host goes on with another song, over seeds, with messages that are late or lost.
@Suite struct NextSongTests {
    private static let second = DuetSong(
        name: "Second.ogg", byteCount: 2_000, hash: String(repeating: "0b", count: 32), duration: 30)

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `after a song the host chooses another one, and all sing its first take`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        try rig.start(3)
        rig.run(8)
        func choose(_ song: DuetSong, _ index: Int = 0) throws {
            try rig.members[index].core.choose(song, at: rig.local(index))
        }
        #expect(throws: DuetRefusal.songPlays) { try choose(Self.second) }
        try rig.members[0].core.pause(at: rig.local(0))
        #expect(throws: DuetRefusal.songPlays) { try choose(Self.second) }
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        try rig.members[0].core.resume(at: rig.local(0))
        rig.run(4)
        #expect(throws: DuetRefusal.notHost) { try choose(Self.second, 1) }
        rig.members[1].core.setStem(DuetStem(attempt: 1, byteCount: 5, hash: DuetRig.song.hash))
        try choose(Self.second)
        rig.run(0.9)
        #expect([1, 2].allSatisfy { rig.status($0).phase == .gettingSong })
        #expect((0..<3).allSatisfy { rig.status($0).take == 1 && rig.status($0).attempt == 2 })
        rig.run(2)
        #expect(rig.transferCount == 4 && (0..<3).allSatisfy { rig.status($0).phase == .agreeing })
        // The voice of the first song may still be on its way.
        #expect(rig.status(0).singers.first { $0.member == 1 }?.stem?.attempt == 1)
        for index in 0..<3 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.members.allSatisfy { $0.recordings == [1, 2] && $0.finished == [1] })
        #expect((0..<3).allSatisfy { rig.status($0).phase == .singing })
        #expect(try #require(rig.spread) < rig.tolerance)
        // A member that comes back, and the next take, have the numbers of the song.
        rig.leave(2)
        rig.comeBack(2)
        rig.run(3)
        #expect(rig.status(2).take == 1 && rig.status(2).song?.name == Self.second.name)
        try rig.members[1].core.singAgain()
        rig.run(1)
        #expect((0..<3).allSatisfy { rig.status($0).take == 2 && rig.status($0).attempt == 3 })
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a song chosen just after the end of another one ends its recording first`(seed: UInt64) throws {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(6)
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        while rig.status(0).phase != .ended { rig.run(0.05) }
        #expect(rig.members.allSatisfy { $0.finished == [] })
        try rig.members[0].core.choose(Self.second, at: rig.local(0))
        rig.run(3)
        for member in rig.members {
            let ends = member.actions.firstIndex(of: .finishRecording(attempt: 1))
            let song = member.actions.lastIndex { if case .setSong = $0 { true } else { false } }
            #expect(member.finished == [1])
            #expect(try #require(ends) < #require(song))
        }
        #expect((0..<2).allSatisfy { rig.status($0).phase == .agreeing && !rig.status($0).hasAgreed })
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `each guest gets the guide vocal after the song, and can sing before it has arrived`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        for index in 0..<3 { rig.join(index) }
        var song = DuetRig.song
        song.guide = DuetGuide(byteCount: 700, hash: String(repeating: "0c", count: 32))
        try rig.members[0].core.choose(song, at: rig.local(0))
        rig.run(2.5)
        #expect(rig.transferCount == 2 && rig.members[0].core.presentGuide == song.guide?.hash)
        for index in 0..<3 { try rig.members[index].core.agree() }
        rig.run(1.5)
        // A guide takes 4 s.
        #expect(rig.guideTransferCount == 2 && rig.members[1].core.presentGuide == nil)
        #expect((0..<3).allSatisfy { rig.status($0).phase != .agreeing })
        rig.run(6)
        #expect((0..<3).allSatisfy { rig.members[$0].core.presentGuide == song.guide?.hash })
        #expect((0..<3).allSatisfy { rig.status($0).phase == .singing && rig.status($0).song?.guide == song.guide })
        rig.run(20)
        #expect(rig.guideTransferCount == 2 && rig.transferCount == 2)
        // The next song has none.
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        rig.run(4)
        try rig.members[0].core.choose(Self.second, at: rig.local(0))
        rig.run(4)
        #expect(rig.guideTransferCount == 2 && (0..<3).allSatisfy { rig.status($0).song?.guide == nil })
    }

    @Test func `a guide vocal is sent only to a member that asks for it, and again after a failure`() throws {
        var core = DuetCore(own: 0, singer: 10)
        core.setMembers([0, 1], host: 0)
        var song = DuetRig.song
        song.guide = DuetGuide(byteCount: 700, hash: String(repeating: "0c", count: 32))
        try core.choose(song, at: HostTime(nanoseconds: 0))
        func sends(_ seconds: Double, _ hasGuide: Bool?) -> Int {
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: seconds)
            var message = DuetMessage()
            (message.presentSong, message.hasGuide) = (song.hash, hasGuide)
            core.receive(message.bytes, from: 1, at: now)
            return core.tick(at: now).filter { $0 == .sendGuide(to: 1) }.count
        }
        // An earlier program knows no guide vocals.
        #expect(
            [sends(0, nil), sends(5, nil), sends(6, false), sends(7.1, false), sends(20, false)] == [0, 0, 0, 1, 0])
        core.guideTransferEnded(to: 1, at: HostTime(nanoseconds: 0).advanced(bySeconds: 21))
        #expect([sends(22, false), sends(26.1, false), sends(40, true)] == [0, 1, 0])
        // A guide vocal is another file than its song, and a beat has none.
        var message = DuetMessage()
        message.song = song
        #expect(DuetMessage(message.bytes) == message)
        message.song?.guide?.hash = song.hash
        #expect(DuetMessage(message.bytes) == nil)
        message.song?.guide?.hash = "0c"
        #expect(DuetMessage(message.bytes) == nil)
    }

    @Test func `the same song chosen again is another first take, and is not sent again`() throws {
        var rig = DuetRig(2, seed: 3)
        try rig.start(2)
        rig.run(6)
        try rig.members[0].core.seek(to: 59.5, at: rig.local(0))
        rig.run(4)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(2)
        #expect(rig.transferCount == 1)
        #expect((0..<2).allSatisfy { rig.status($0).phase == .agreeing && !rig.status($0).hasAgreed })
        #expect((0..<2).allSatisfy { rig.status($0).take == 1 && rig.status($0).attempt == 2 })
    }
}
