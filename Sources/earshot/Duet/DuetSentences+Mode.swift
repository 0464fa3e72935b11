// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotRooms
import Foundation

/// The sentences about the delay between the singers, and about who leads.
extension DuetSentences {
    /// Returns the delay and the mode that follows from it. Ends with a space, or is empty.
    /// - Parameters:
    ///   - delay: the seconds from one singer to the other; nil if unknown.
    ///   - isNew: true if a singer has just chosen the mode.
    ///   - name: returns a singer's name.
    static func mode(
        _ duet: DuetStatus<MemberID>, delay: Double?, hasKeys: Bool, isNew: Bool = false, name: (MemberID) -> String
    ) -> String {
        let limit = DuetMode<MemberID>.togetherLimit
        let milliseconds = delay.map { String(format: "Delay %.0f ms", $0 * 1e3) }
        let tooLong = String(format: "too long to sing together (limit %.0f ms)", limit * 1e3)
        let isTooLong = delay.map { $0 > limit } ?? false
        guard let leader = duet.mode?.leader else {
            let start = isNew ? "All sing together. " : ""
            guard let milliseconds else { return start }
            let advice = hasKeys ? "Tab lets one lead. A cable helps. " : "A cable helps. "
            return isTooLong ? "\(start)\(milliseconds): \(tooLong). \(advice)" : "\(start)\(milliseconds). "
        }
        if duet.isInTurn { return turn(of: leader, duet, milliseconds: isNew ? nil : milliseconds, hasKeys, name) }
        let isOwn = leader == duet.own
        let words =
            isOwn
            ? "You lead: sing to the song, and do not wait for the others' voices. "
            : "\(TerminalText.sanitized(name(leader))) leads: you hear the song in time with that voice. "
        let key = hasKeys ? "Tab changes that. " : ""
        guard isTooLong, !isNew, let milliseconds else { return words + key }
        let clause = isOwn ? words.prefix(1).lowercased() + words.dropFirst() : words
        return "\(milliseconds): \(tooLong), so \(clause)\(key)"
    }

    /// Returns whose turn it is. Ends with a space.
    /// - Parameter milliseconds: the delay, which is the reason; nil if a singer has just chosen the mode.
    private static func turn(
        of singer: MemberID, _ duet: DuetStatus<MemberID>, milliseconds: String?, _ hasKeys: Bool,
        _ name: (MemberID) -> String
    ) -> String {
        // A later turn needs no reason.
        let isFirst = duet.keptAttempt == nil
        let reason = isFirst ? milliseconds.map { "\($0): too long to sing at the same time. " } ?? "" : ""
        let start = isFirst ? "You take turns. " : ""
        let key = hasKeys ? "Tab changes that. " : ""
        guard singer == duet.own else { return "\(reason)\(start)\(othersTurn(name(singer))) \(key)" }
        let earlier = isFirst ? "" : " You hear the earlier voices."
        return "\(reason)\(start)You sing now, and the others listen.\(earlier) \(key)"
    }

    static func othersTurn(_ name: String) -> String { "\(TerminalText.sanitized(name)) sings now, and you listen." }
}
