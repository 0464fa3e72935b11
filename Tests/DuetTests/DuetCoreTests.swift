// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync
@testable import EarshotDuet

/// Singers agree, begin, pause, seek, leave and come back, over seeds, with messages that are late or lost.
@Suite struct DuetCoreTests {
    private static let seeds = 1...10 as ClosedRange<UInt64>
    @Test(arguments: seeds) func `the song begins on all machines at one instant after all have agreed`(seed: UInt64)
        throws
    {
        var rig = DuetRig(3, seed: seed)
        rig.join(0, 1, 2)
        rig.run(0.3)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        #expect(throws: DuetRefusal.notHost) { try rig.members[1].core.choose(DuetRig.song, at: rig.local(1)) }
        #expect(throws: DuetRefusal.noSong) { try rig.members[1].core.agree() }
        rig.run(0.4)
        #expect(rig.status(1).phase == .gettingSong && rig.status(0).phase == .agreeing)
        #expect(throws: DuetRefusal.songMissing) { try rig.members[1].core.agree() }
        rig.run(2)
        #expect(rig.transferCount == 2)
        try rig.members[0].core.agree()
        try rig.members[1].core.agree()
        rig.run(3)
        // One singer is missing.
        #expect(rig.status(2).singers.map(\.hasAgreed) == [true, true] && rig.status(0).phase == .agreeing)
        #expect(rig.members.allSatisfy { $0.orders.allSatisfy { $0.position == nil } && $0.recordings.isEmpty })
        try rig.members[2].core.agree()
        rig.run(2)
        for index in 0..<3 {
            guard case .counting(let seconds) = rig.status(index).phase else { throw Unexpected(rig.status(index)) }
            #expect(seconds > 0.5 && seconds < 3)
            #expect(rig.members[index].recordings == [1])
        }
        rig.run(4)
        #expect((0..<3).allSatisfy { rig.status($0).phase == .singing && rig.position($0) ?? 0 > 1 })
        #expect(try #require(rig.spread) < rig.tolerance)
        #expect(rig.largestMessage < 700, "\(rig.largestMessage)")
    }

    @Test(arguments: seeds) func `anybody pauses, resumes and seeks, and all follow`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        rig.lossRate = 0.3
        #expect(throws: DuetRefusal.noSong) { try rig.members[0].core.pause(at: rig.local(0)) }
        try rig.start(3)
        #expect(throws: DuetRefusal.notStarted) { try rig.members[0].core.pause(at: rig.local(0)) }
        rig.run(6)
        try rig.members[1].core.pause(at: rig.local(1))
        rig.run(2.5)
        #expect((0..<3).allSatisfy { rig.status($0).phase == .paused && rig.position($0) == nil })
        let paused = rig.status(0).position
        #expect((0..<3).allSatisfy { abs(rig.status($0).position - paused) < 1e-6 })
        try rig.members[2].core.resume(at: rig.local(2))
        rig.run(2.5)
        #expect(try #require(rig.spread) < rig.tolerance)
        #expect(abs(try #require(rig.position(0)) - paused - 2) < 0.1)
        try rig.members[0].core.seek(to: 40, at: rig.local(0))
        try rig.members[1].core.seek(to: 20, at: rig.local(1))
        rig.run(2.5)
        // One of both counts, for all.
        let position = try #require(rig.position(2))
        #expect(abs(position - 42) < 0.1 || abs(position - 22) < 0.1, "\(position)")
        #expect(try #require(rig.spread) < rig.tolerance)
        try rig.members[1].core.seek(to: 1e9, at: rig.local(1))
        rig.run(2.5)
        #expect((0..<3).allSatisfy { rig.status($0).phase == .ended })
        #expect(rig.members.allSatisfy { $0.finished == [1] })
    }

    @Test(arguments: seeds) func `a singer who drops out comes back in place`(seed: UInt64) throws {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(8)
        rig.leave(1)
        rig.run(5)
        #expect(rig.status(0).phase == .singing && rig.status(0).singers.isEmpty)
        rig.comeBack(1)
        rig.run(3)
        // The voice is recorded after another agreement only.
        #expect(rig.status(1).phase == .agreeing && rig.members[1].recordings == [1] && rig.position(1) == nil)
        // It is told where the others are.
        #expect(rig.status(1).phaseOfOthers == .singing && rig.status(0).phaseOfOthers == nil)
        #expect(abs(rig.status(1).position - (try #require(rig.position(0)))) < 0.01)
        try rig.members[1].core.agree()
        rig.run(1.5)
        #expect(rig.members[1].recordings == [1, 1] && rig.members[0].recordings == [1])
        #expect(rig.status(1).phaseOfOthers == nil)
        #expect(try #require(rig.spread) < rig.tolerance)
        #expect(rig.present.allSatisfy { rig.position($0) != nil })
    }

    @Test(arguments: seeds) func `a host that leaves in mid-song is succeeded, and nothing jumps`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        try rig.start(3)
        rig.run(8)
        let orders = rig.members.map(\.orders.count)
        rig.leave(0)
        rig.run(8) { #expect($0.spread ?? 1 < $0.tolerance) }
        #expect(rig.members[1].orders.count == orders[1] && rig.members[2].orders.count == orders[2])
        #expect(rig.status(2).song == DuetRig.song && rig.status(2).phase == .singing)
        // The successor gives the song to a newcomer.
        let count = rig.transferCount
        rig.comeBack(0)
        rig.run(3)
        #expect(rig.transferCount == count + 1 && rig.status(0).phase == .agreeing)
    }

    @Test(arguments: seeds) func `a new attempt begins after another agreement, and is recorded by itself`(seed: UInt64)
        throws
    {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(8)
        try rig.members[1].core.singAgain()
        rig.run(2)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .agreeing && rig.position($0) == nil })
        #expect(rig.members.allSatisfy { $0.finished == [1] } && rig.status(0).attempt == 2)
        // Each knows who began it.
        #expect(rig.status(0).singers.map(\.hasBegun) == [true] && rig.status(1).singers.map(\.hasBegun) == [false])
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.members.allSatisfy { $0.recordings == [1, 2] })
        #expect(try #require(rig.spread) < rig.tolerance)
        // The stem of the last attempt may come after the next one has begun, and stays until another one.
        rig.members[0].core.setStem(DuetStem(attempt: 1, byteCount: 5, hash: DuetRig.song.hash))
        rig.run(1)
        #expect(rig.status(1).singers[0].stem?.attempt == 1)
        try rig.members[0].core.singAgain()
        rig.run(1)
        #expect(rig.status(1).singers[0].stem?.attempt == 1)
        rig.members[0].core.setStem(DuetStem(attempt: 2, byteCount: 7, hash: DuetRig.song.hash))
        rig.run(1)
        #expect(rig.status(1).singers[0].stem?.byteCount == 7)
    }

    @Test(arguments: seeds) func `the mix plays for all who have it`(seed: UInt64) throws {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(6)
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        rig.run(4)
        #expect(rig.status(0).phase == .ended && rig.status(1).phase == .ended)
        rig.members[0].core.setMix(1)
        #expect(throws: DuetRefusal.mixMissing) { try rig.members[1].core.listen(true, at: rig.local(1)) }
        try rig.members[0].core.listen(true, at: rig.local(0))
        rig.run(2)
        #expect(rig.position(0) != nil && rig.position(1) == nil)
        // A singer whose mix is late joins in place.
        rig.members[1].core.setMix(1)
        rig.run(1)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .listening })
        #expect(try #require(rig.spread) < rig.tolerance)
        let plays = rig.members.map { member in member.actions.filter { if case .playMix = $0 { true } else { false } }
        }
        #expect(plays.allSatisfy { (1...2).contains($0.count) } && rig.members.allSatisfy { $0.recordings == [1] })
        try rig.members[0].core.listen(false, at: rig.local(0))
        rig.run(2)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .ended && rig.position($0) == nil })
        // A new attempt plays the song again.
        try rig.members[0].core.singAgain()
        rig.run(2)
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .singing })
        #expect(rig.members.allSatisfy { $0.recordings == [1, 2] && $0.finished == [1] })
    }

    @Test(arguments: seeds) func `a guest who stays alone after the song can listen to the mix`(seed: UInt64) throws {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(6)
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        rig.run(4)
        rig.members[1].core.setMix(1)
        rig.leave(0)
        rig.run(4)
        #expect(rig.status(1).phase == .ended && rig.status(1).singers.isEmpty)
        try rig.members[1].core.listen(true, at: rig.local(1))
        rig.run(2)
        #expect(rig.status(1).phase == .listening && rig.position(1) != nil)
    }

    @Test func `a singer whom nobody hears any more does not hold up the others`() throws {
        var rig = DuetRig(3, seed: 4)
        for index in 0..<3 { rig.join(index) }
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(3)
        try rig.members[0].core.agree()
        try rig.members[1].core.agree()
        rig.reaches = { $0 != 2 && $1 != 2 }
        rig.run(10)
        #expect(rig.status(0).phase == .singing && rig.status(1).phase == .singing)
    }

    @Test func `a host cannot make others look for a song more often than once a second`() throws {
        var core = DuetCore(own: 1, singer: 11)
        core.setMembers([0, 1], host: 0)
        var count = 0
        for turn in 0..<200 {
            let now = HostTime(nanoseconds: Int64(turn) * 20_000_000)
            var message = DuetMessage()
            message.song = DuetRig.song
            message.song?.byteCount = Int64(turn + 1)
            core.receive(message.bytes, from: 0, at: now)
            count += core.tick(at: now).filter { if case .setSong = $0 { true } else { false } }.count
        }
        #expect(count == 4)
    }

    @Test func `a singer who gets another number goes on`() throws {
        var rig = DuetRig(3, seed: 6)
        try rig.start(2)
        rig.run(6)
        rig.members[2].core = DuetCore(own: 2, continuing: rig.members[1].core)
        rig.leave(1)
        rig.join(2)
        rig.run(4)
        #expect(rig.status(2).phase == .singing && rig.status(2).hasAgreed)
        #expect(rig.status(0).singers.map(\.member) == [2] && rig.status(0).singers[0].hasAgreed)
        #expect(rig.members[2].recordings == [] && rig.position(2) != nil)
        #expect(try #require(rig.spread) < rig.tolerance)
    }

    @Test(arguments: seeds) func `all singers know an attempt by one number, also one who comes back`(seed: UInt64)
        throws
    {
        var rig = DuetRig(3, seed: seed)
        for index in 0..<3 { rig.join(index) }
        try rig.members[0].core.choose(DuetRig.song, id: 7, at: rig.local(0))
        rig.run(3)
        #expect((0..<3).allSatisfy { rig.status($0).attemptID == 7 })
        // Two members begin another attempt at once, so one number counts.
        try rig.members[1].core.singAgain(id: 8)
        try rig.members[2].core.singAgain(id: 9)
        rig.run(2)
        #expect((0..<3).allSatisfy { rig.status($0).attemptID == 9 && rig.status($0).attempt == 2 })
        for index in 0..<3 { try rig.members[index].core.agree() }
        rig.run(6)
        // The host is killed, and another member has the song and the attempt.
        rig.leave(0)
        rig.run(4)
        rig.comeBack(0)
        rig.run(3)
        #expect(rig.status(0).attemptID == 9 && rig.status(0).phase == .agreeing)
    }

    @Test func `a song's file that does not arrive is sent again later`() throws {
        var core = DuetCore(own: 0, singer: 10)
        core.setMembers([0, 1], host: 0)
        try core.choose(DuetRig.song, at: HostTime(nanoseconds: 0))
        func sends(_ seconds: Double) -> Int {
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: seconds)
            core.receive(DuetMessage().bytes, from: 1, at: now)
            return core.tick(at: now).filter { $0 == .sendSong(to: 1) }.count
        }
        // The member may find the file itself.
        #expect([sends(0), sends(0.9), sends(1), sends(1.1), sends(20)] == [0, 0, 1, 0, 0])
        core.songTransferEnded(to: 1, at: HostTime(nanoseconds: 0).advanced(bySeconds: 21))
        #expect([sends(22), sends(25.9), sends(26.1), sends(40)] == [0, 0, 1, 0])
    }

    @Test func `messages that lie or are damaged change nothing`() throws {
        var rig = DuetRig(2, seed: 3)
        try rig.start(2)
        rig.run(6)
        let core = rig.members[0].core
        var message = DuetMessage()
        message.song = DuetSong(name: "../x", byteCount: 1, hash: DuetRig.song.hash, duration: 1)
        message.transport = core.transport
        message.transport?.revision &+= 1
        message.transport?.position = -1
        let negative = message.bytes
        message.transport?.position = .max
        let tooFar = message.bytes
        message.transport?.position = 0
        message.transport?.id = DuetTransport.largestID + 1
        let largeID = message.bytes
        message.transport = nil
        let song = message.bytes
        let inputs: [[UInt8]] = [
            [], [0], Array("{}".utf8), Array(#"{"duet":2}"#.utf8), Array(#"{"duet":1,"agrees":-1}"#.utf8),
            Array(#"{"duet":1,"clock":{"term":1,"from":0,"to":0,"rate":1e999}}"#.utf8), negative, tooFar, largeID,
            Array((#"{"duet":1,"has":""# + String(repeating: "a", count: 1_100) + #""}"#).utf8),
        ]
        for bytes in inputs {
            #expect(DuetMessage(bytes) == nil, "\(String(decoding: bytes.prefix(60), as: UTF8.self))")
        }
        // A guest cannot choose the song, and a stranger cannot say anything.
        rig.members[0].core.receive(song, from: 1, at: rig.local(0))
        rig.members[0].core.receive(song, from: 7, at: rig.local(0))
        #expect(rig.status(0).song == DuetRig.song && rig.status(0).phase == .singing)
        for length in 0..<song.count { #expect(DuetMessage(Array(song[..<length])) == nil) }
    }

    @Test func `the longest message fits a datagram, and no name makes it longer`() throws {
        var names = ["\u{1}", "\"", "\\", "/", "ü", "😀"].map { String(repeating: $0, count: 200) }
        names.append("\u{7F}\n.ogg")
        for name in names {
            let song = DuetSong(
                name: name, byteCount: .max, hash: DuetRig.song.hash, duration: 123.456789012345,
                beat: Beat(tempo: 123.45678901234567, beatsPerBar: 8))
            var message = DuetMessage()
            message.singer = DuetTransport.largestID
            message.clock = .init(term: .max, from: .min, to: .min, rate: -1.2345678901234567e-4)
            message.song = song
            message.song?.byteCount = DuetSong.largestFile
            message.song?.isHidden = true
            message.song?.firstAttempt = .max
            message.song?.guide = DuetGuide(
                byteCount: DuetSong.largestFile, hash: String(repeating: "0b", count: 32))
            (message.hasGuide, message.part, message.partChange) = (false, 2, 255)
            var transport = DuetTransport()
            (transport.revision, transport.attempt, transport.state) = (.max, .max, .listening)
            (transport.position, transport.time, transport.id) = (21_600_000_000_000, .min, DuetTransport.largestID)
            transport.setLeader(DuetTransport.largestID, isInTurn: true)
            transport.kept = .max
            message.transport = transport
            (message.presentSong, message.agreement) = (song.hash, .max)
            (message.unrecorded, message.begun) = (.max, .max)
            message.stem = DuetStem(attempt: .max, byteCount: DuetStem.largestFile, hash: song.hash)
            #expect(message.bytes.count <= DuetMessage.maximumSize, "\(name): \(message.bytes.count)")
            #expect(DuetMessage(message.bytes) == message, "\(name)")
            // The singers in the same room are left out if the rest leaves no space.
            var withRoom = message
            withRoom.room = .init(
                captureDelay: 0.123456, hasLoudspeaker: false,
                heard: Array(repeating: DuetTransport.largestID, count: 7))
            #expect(withRoom.fittingBytes == message.bytes)
            withRoom.song?.guide = nil
            withRoom.stem = nil
            #expect(withRoom.fittingBytes == withRoom.bytes, "\(name): \(withRoom.bytes.count)")
        }
        var hostile = DuetMessage()
        hostile.song = DuetRig.song
        hostile.song?.name = "\u{1}.ogg"
        #expect(DuetMessage(hostile.bytes) == nil)
    }

    @Test(arguments: seeds) func `an attempt is recorded once, whatever others order`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        try rig.start(3)
        rig.run(6)
        // A member that lies alternates between the states of one attempt.
        for turn in 0..<6 {
            var message = DuetMessage()
            (message.presentSong, message.agreement) = (DuetRig.song.hash, 1)
            message.transport = rig.members[2].core.transport
            message.transport?.revision &+= 1
            message.transport?.state = turn % 2 == 0 ? .waiting : .playing
            rig.members[2].core.receive(message.bytes, from: 1, at: rig.local(2))
            rig.run(1)
        }
        #expect(rig.members[2].recordings == [1] && rig.members[2].finished == [1])
        try rig.members[2].core.agree(false)
        #expect(throws: DuetRefusal.attemptOver) { try rig.members[2].core.agree() }
    }

    @Test(arguments: seeds) func `a machine that slept joins in place, and the others do not notice`(seed: UInt64)
        throws
    {
        var rig = DuetRig(3, seed: seed)
        try rig.start(3)
        rig.run(8)
        let orders = [1, 2].map { rig.members[$0].orders.count }
        for index in 0..<2 {
            let sleeper = index == 0 ? 2 : 0
            rig.sleep(sleeper, seconds: 4)
            rig.run(6)
            #expect(try #require(rig.spread) < rig.tolerance, "\(sleeper)")
        }
        #expect(rig.members[1].orders.count == orders[0])
    }

    private struct Unexpected: Error {
        let status: DuetStatus<Int>
        init(_ status: DuetStatus<Int>) { self.status = status }
    }
}
