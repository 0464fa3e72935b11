// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotLiveCall
import EarshotRooms

/// Finds a participant or a guest by the name or the number in a list.
enum ListedPerson {
    /// Returns the index of a person in a list of names. A number from 1 has priority over a name, since guests choose their
    /// names. A name may differ in case, and be shortened.
    /// - Parameter kind: the plural of the persons, for errors.
    /// - Throws: a ``Failure`` unless exactly one person matches.
    static func index(_ text: String, in names: [String], _ kind: String) throws(Failure) -> Int {
        if let number = Int(text), names.indices.contains(number - 1) { return number - 1 }
        let tests: [(String) -> Bool] = [
            { $0 == text }, { $0.lowercased() == text.lowercased() }, { $0.lowercased().hasPrefix(text.lowercased()) },
        ]
        for test in tests {
            let matches = names.indices.filter { test(names[$0]) }
            if matches.count == 1 { return matches[0] }
            guard matches.isEmpty else {
                let numbered = matches.map { "\($0 + 1) \(names[$0])" }.joined(separator: ", ")
                throw Failure("'\(text)' may be \(numbered). Use the number.", status: Failure.noHost)
            }
        }
        let list = "\(kind): " + names.enumerated().map { "\($0 + 1) \($1)" }.joined(separator: ", ")
        throw Failure(
            "No \(kind.lowercased().dropLast()) is called '\(text)'. "
                + (names.isEmpty
                    ? "There are none." : ErrorText.suggestion(nearestNames(text, in: names), otherwise: list)),
            status: Failure.noHost)
    }

    /// Returns the participant that the user names.
    static func participant(_ text: String, _ status: StatusDocument) throws(Failure) -> (id: MemberID, name: String) {
        let participant = status.participants[
            try index(text, in: status.participants.map(\.name), "Participants")]
        guard let id = MemberID(participant.id) else {
            throw Failure("The call has an unknown kind of participant.", status: Failure.unavailable)
        }
        return (id, participant.name)
    }

    /// Returns the guest that the user names; without a name, the only guest.
    static func guest(_ text: String?, _ status: StatusDocument) throws(Failure) -> JoinRequestDocument {
        let guests = status.joinRequests
        guard !guests.isEmpty else { throw Failure("Nobody is asking to join.", status: Failure.noHost) }
        if let text { return guests[try index(text, in: guests.map(\.name), "Guests")] }
        guard guests.count == 1 else {
            let list = guests.enumerated().map { "\($0 + 1) \($1.name)" }.joined(separator: ", ")
            throw Failure("\(guests.count) guests ask. Name one: \(list)", status: Failure.usage)
        }
        return guests[0]
    }
}
