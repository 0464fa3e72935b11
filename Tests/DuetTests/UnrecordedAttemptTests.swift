// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotDuet

/// A singer who cannot record, on virtual time.
@Suite struct UnrecordedAttemptTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a singer who cannot record leaves the attempt, and the others see it and go on`(seed: UInt64) throws {
        var rig = DuetRig(2, seed: seed)
        try rig.start(2)
        rig.run(6)
        #expect(rig.status(0).phase == .singing && !rig.status(0).singers[0].cannotRecord)
        rig.members[1].core.leaveUnrecorded(7)  // another attempt
        #expect(rig.status(1).hasAgreed)
        rig.members[1].core.leaveUnrecorded(1)
        rig.run(2)
        #expect(rig.status(0).phase == .singing)
        #expect(rig.status(0).singers[0].cannotRecord && !rig.status(0).singers[0].hasAgreed)
        #expect(rig.status(1).hasLeft && rig.status(1).phase == .agreeing && rig.position(1) == nil)
        #expect(throws: DuetRefusal.attemptOver) { try rig.members[1].core.agree() }
        try rig.members[1].core.singAgain()
        rig.run(2)
        #expect(!rig.status(0).singers[0].cannotRecord && !rig.status(1).hasLeft)
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.members[1].recordings == [1, 2] && rig.status(0).phase == .singing)
    }
}
