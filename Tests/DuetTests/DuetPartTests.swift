// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// The parts of a song, over seeds, with messages that are late or lost.
@Suite struct DuetPartTests {
    private static let seeds = 1...10 as ClosedRange<UInt64>

    private func parts(_ rig: DuetRig) -> [Int?] { rig.present.map { rig.status($0).part } }

    /// Returns true if all members know the parts of the others.
    private func agree(_ rig: DuetRig) -> Bool {
        rig.present.allSatisfy { index in
            rig.status(index).singers.allSatisfy { $0.part == rig.status($0.member).part }
        }
    }

    @Test(arguments: seeds) func `the host has the first part, and a guest that with fewer singers`(seed: UInt64) throws
    {
        var rig = DuetRig(4, seed: seed)
        rig.join(0, 1)
        rig.run(0.3)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(0.06)
        #expect(rig.status(0).part == 1 && rig.status(0).freePart == 2)
        rig.run(2)
        #expect(parts(rig) == [1, 2] && agree(rig) && rig.status(0).freePart == nil)
        rig.join(2)
        rig.run(2)
        #expect(rig.status(2).part == 2)
        rig.join(3)
        rig.run(2)
        #expect(parts(rig) == [1, 2, 2, 1] && agree(rig))
        // A member that comes back under another number keeps the part.
        rig.members[3].core = DuetCore(own: 3, continuing: rig.members[3].core)
        rig.run(2)
        #expect(parts(rig) == [1, 2, 2, 1])
    }

    @Test(arguments: seeds) func `two singers swap their parts before the song, whoever orders it`(seed: UInt64) throws
    {
        var rig = DuetRig(3, seed: seed)
        rig.lossRate = 0.3
        #expect(throws: DuetRefusal.noSong) { try rig.members[0].core.setPart(2) }
        try rig.start(2)
        try rig.members[0].core.agree(false)
        rig.run(1)
        for (index, swapped) in [(0, [2, 1]), (1, [1, 2]), (1, [2, 1])] {
            try rig.members[index].core.setPart(DuetPart.other(try #require(rig.status(index).part)))
            rig.run(4)
            #expect(parts(rig) == swapped && agree(rig))
        }
        // Both at once swap once.
        for index in 0..<2 { try rig.members[index].core.setPart(index + 1) }
        rig.run(2)
        #expect(parts(rig) == [1, 2])
        // One of three singers changes only the own part.
        rig.join(2)
        rig.run(4)
        try rig.members[0].core.setPart(2)
        rig.run(2)
        #expect(parts(rig) == [2, 2, rig.status(2).part] && agree(rig))
        rig.leave(2)
        rig.run(4)
        try rig.members[0].core.agree()
        rig.run(6)
        #expect(rig.status(0).phase == .singing)
        #expect(throws: DuetRefusal.started) { try rig.members[0].core.setPart(1) }
    }

    @Test func `a part is 1 or 2, and an earlier program has none`() throws {
        var message = DuetMessage()
        message.part = 2
        #expect(DuetMessage(message.bytes)?.part == 2)
        message.part = 3
        #expect(DuetMessage(message.bytes) == nil)
        // The guest of an earlier host takes the second part.
        var core = DuetCore(own: 1, singer: 11)
        core.setMembers([0, 1], host: 0)
        message.part = nil
        message.song = DuetRig.song
        for second in 0..<3 {
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: Double(second))
            core.receive(message.bytes, from: 0, at: now)
            _ = core.tick(at: now)
            #expect(core.part == (second == 0 ? nil : 2))
        }
        #expect(core.status(at: HostTime(nanoseconds: 0)).singers.map(\.part) == [nil])
    }
}
