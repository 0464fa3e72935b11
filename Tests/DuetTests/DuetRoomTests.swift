// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// Singers in the same room.
@Suite struct DuetRoomTests {
    /// Returns singers who all have loudspeakers.
    private func rig(_ count: Int) throws -> DuetRig {
        var rig = DuetRig(count, seed: 4)
        for index in 0..<count { rig.join(index) }
        for index in 0..<count {
            rig.members[index].core.setSound(captureDelay: 0.005 + 0.001 * Double(index), hasLoudspeaker: true)
        }
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(1)
        return rig
    }

    private func nearby(_ index: Int, _ rig: DuetRig) -> Set<Int> {
        Set(rig.status(index).singers.filter(\.isNearby).map(\.member))
    }

    @Test func `two are in one room if each hears the other, and one loudspeaker plays the song`() throws {
        var rig = try rig(3)
        #expect(rig.members[1].core.captureDelays == [0: 0.005, 2: 0.007])
        rig.members[0].core.setHeardInRoom([1, 2])
        rig.run(1)
        #expect((0..<3).allSatisfy { nearby($0, rig).isEmpty })
        rig.members[1].core.setHeardInRoom([0])
        rig.run(1)
        #expect(nearby(0, rig) == [1] && nearby(1, rig) == [0] && nearby(2, rig).isEmpty)
        #expect(rig.members[1].core.isSongElsewhere([0]) && !rig.members[0].core.isSongElsewhere([1]))
        #expect(!rig.members[1].core.isSongElsewhere([]))
        // With headphones each one's own song stays.
        rig.members[0].core.setSound(captureDelay: 0.005, hasLoudspeaker: false)
        rig.run(1)
        #expect(!rig.members[1].core.isSongElsewhere([0]))
        rig.members[0].core.setHeardInRoom([])
        rig.run(1)
        #expect((0..<3).allSatisfy { nearby($0, rig).isEmpty })
    }

    @Test func `one who has left is in no room, and numbers that no sender has are ignored`() throws {
        var rig = try rig(2)
        rig.members[0].core.setHeardInRoom([1])
        rig.members[1].core.setHeardInRoom([0])
        rig.run(1)
        #expect(nearby(0, rig) == [1])
        rig.leave(1)
        rig.run(1)
        #expect(nearby(0, rig).isEmpty)
        var message = DuetMessage()
        let inputs: [(DuetMessage.Room, Bool)] = [
            (.init(captureDelay: 0.5, heard: [DuetTransport.largestID]), true), (.init(captureDelay: -0.1), false),
            (.init(captureDelay: 0.6), false), (.init(heard: [0]), false),
            (.init(heard: [DuetTransport.largestID + 1]), false),
            (.init(heard: (1...8).map { UInt64($0) }), false),
        ]
        for (room, isValid) in inputs {
            message.room = room
            #expect((DuetMessage(message.bytes) == message) == isValid, "\(room)")
        }
        #expect(DuetMessage(Array(#"{"duet":1,"room":{"capture":1e999,"loud":true,"heard":[]}}"#.utf8)) == nil)
    }

    @Test func `the sound of a room is told with the next message, another hearing at once`() throws {
        var rig = try rig(2)
        _ = rig.members[0].core.tick(at: rig.local(0))
        rig.members[0].core.setSound(captureDelay: 0.2, hasLoudspeaker: true)
        #expect(rig.members[0].core.nextMessage != nil)
        rig.members[0].core.setHeardInRoom([1])
        #expect(rig.members[0].core.nextMessage == nil)
    }
}
