// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotNearby
import EarshotRooms

/// The sentences about the parts of a song.
extension DuetSentences {
    /// Returns `first part` or `second part`.
    static func part(_ part: Int) -> String { part == 1 ? "first part" : "second part" }

    /// Returns `You: first part. Ben: second part.`; empty before the parts are chosen.
    /// - Parameter name: returns a singer's name.
    static func parts(_ duet: DuetStatus<MemberID>, name: (MemberID) -> String) -> String {
        guard let own = duet.part else { return "" }
        let others = duet.singers.compactMap { singer in
            singer.part.map { "\(TerminalText.sanitized(name(singer.member))): \(part($0))." }
        }
        return (["You: \(part(own))."] + others).joined(separator: " ")
    }
}

extension RoomAnnouncement {
    /// The song, and the part that nobody sings: `Blue Moon, second part free`.
    var songAndPart: String? {
        song.map { song in freePart.map { "\(song), \(DuetSentences.part($0)) free" } ?? song }
    }
}
