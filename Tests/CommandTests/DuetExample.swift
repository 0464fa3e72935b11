// SPDX-License-Identifier: Apache-2.0

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms

/// A duet with Ben, for the tests of its keys and sentences.
enum DuetExample {
    static let ben = MemberID(2)!
    static let song = DuetSong(
        name: "Blue Moon.ogg", byteCount: 5, hash: String(repeating: "0a", count: 32), duration: 192)

    /// Returns a status after 60 s of the song.
    static func status(
        _ phase: DuetStatus<MemberID>.Phase, _ change: (inout LiveDuetStatus) -> Void = { _ in }
    ) -> LiveDuetStatus {
        var duet = DuetStatus<MemberID>()
        (duet.phase, duet.song, duet.position) = (phase, song, 60)
        duet.singers = [.init(member: ben)]
        (duet.mode, duet.own) = (.together, MemberID(1))
        var status = LiveDuetStatus(duet: duet)
        status.singers = [ben]
        change(&status)
        return status
    }
}
