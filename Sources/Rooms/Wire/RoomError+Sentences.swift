// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension RoomError: CustomStringConvertible {
    /// One sentence for the guest that says what happened.
    public var description: String {
        switch self {
        case .malformed(let what): "the host could not read the request: \(what)"
        case .version(let theirs):
            "the host uses signalling version \(theirs), but this Earshot uses \(WireJSON.version)"
        case .tooLarge(let limit): "the request exceeds \(limit) bytes"
        case .wrongMediaType: "the host expected another type of content"
        case .notFound: "nothing exists at this path"
        case .wrongMethod: "this path does not support this method"
        case .declined: "the host declined"
        case .unanswered: "the host did not answer within 30 s"
        case .cancelled: "the request was withdrawn"
        case .replaced: "another Earshot with this machine's key took your place"
        case .blocked: "the host has blocked this device; only the host can unblock it"
        case .unknownKey: "the host admits known guests only"
        case .keyNeeded: "the host admits known guests only, and a browser cannot prove who it is"
        case .changedKey(let name, let was): "the host knows '\(name)' by another key (\(was))"
        case .ownKey: "this is the host's own key"
        case .pinNeeded: "the room has a PIN"
        case .wrongPIN(attemptsLeft: 0): "wrong PIN, no attempts left"
        case .wrongPIN(let left): "wrong PIN, \(left) more \(left == 1 ? "try" : "tries")"
        case .tooManyAttempts: "too many wrong PINs"
        case .busy: "too many join requests at once"
        case .full(let limit): "the room is full with \(limit) members"
        case .closed: "the room has ended"
        case .notHost: "this participant is not the host"
        case .removed: "the host removed you from the room"
        case .notMember: "the room no longer knows you"
        case .noSuchMember: "that member has left the room"
        case .memberAway: "that member cannot be reached at the moment"
        case .noSuchOffer: "that offer was already answered or has expired"
        case .offerUnanswered: "that member did not answer in time"
        case .other(_, _, let message): "the host says: \(message)"
        }
    }

    /// One sentence for the user at the host, about the named guest; nil if the host need not know.
    package func hostDescription(about guest: String) -> String? {
        switch self {
        case .malformed(let what): "\(guest) sent an unreadable request (\(what))"
        case .version(let theirs):
            "\(guest) uses signalling version \(theirs), but this Earshot uses \(WireJSON.version)"
        case .unanswered: "\(guest) asked to join and was not answered within 30 s"
        case .cancelled: "\(guest) no longer asks to join"
        case .blocked: "\(guest) asked to join and is blocked"
        case .unknownKey, .keyNeeded: "\(guest) asked to join and is not known"
        case .changedKey(let name, _):
            "\(guest) claims to be '\(name)' but has a DIFFERENT KEY; refused"
        case .wrongPIN: "\(guest) entered a wrong PIN"
        case .tooManyAttempts: "\(guest) entered too many wrong PINs and must wait"
        case .busy: "too many join requests at once; some were refused"
        case .full(let limit): "\(guest) asked to join, but the room is full with \(limit) members"
        case .ownKey: "another Earshot with this machine's key asked to join and was refused"
        default: nil
        }
    }
}
