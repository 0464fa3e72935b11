// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension RoomError: CustomStringConvertible {
    /// One sentence for the guest that says what happened.
    public var description: String {
        switch self {
        case .malformed(let what): "the host could not read the request: \(what)"
        case .version(let theirs): "version \(theirs) of the signalling meets version \(WireJSON.version)"
        case .tooLarge(let limit): "the request has more than \(limit) bytes"
        case .wrongMediaType: "the host expected another type of content"
        case .notFound: "there is nothing at this path"
        case .wrongMethod: "the host does not take this method at this path"
        case .declined: "the host said no"
        case .unanswered: "nobody at the host answered within 30 s"
        case .cancelled: "the request was taken back"
        case .replaced: "another Earshot with this machine's identity took the place"
        case .blocked: "the host has blocked this device; only the host can lift that"
        case .unknownKey: "the host admits known guests only"
        case .keyNeeded: "the host admits known guests only, and a browser cannot prove who it is"
        case .changedKey(let name, let was): "the host knows '\(name)' by another key (\(was))"
        case .ownKey: "this is the host's own key"
        case .pinNeeded: "the room has a PIN"
        case .wrongPIN(attemptsLeft: 0): "wrong PIN, and no more tries"
        case .wrongPIN(let left): "wrong PIN, \(left) more \(left == 1 ? "try" : "tries")"
        case .tooManyAttempts: "too many wrong PINs"
        case .busy: "too many are asking at once"
        case .full(let limit): "the room is full, with \(limit) members"
        case .closed: "the room has ended"
        case .notHost: "this peer admits nobody at present"
        case .removed: "the host removed you from the room"
        case .notMember: "the room does not know you any more"
        case .noSuchMember: "that member has left the room"
        case .memberAway: "that member cannot be reached at the moment"
        case .noSuchOffer: "that offer has been answered already, or is too old"
        case .offerUnanswered: "that member did not answer in time"
        case .other(_, _, let message): "the host says: \(message)"
        }
    }

    /// One sentence for the user at the host, about the named guest; nil if the host need not know.
    package func hostDescription(about guest: String) -> String? {
        switch self {
        case .malformed(let what): "\(guest) sent what cannot be read (\(what))"
        case .version(let theirs):
            "\(guest) speaks version \(theirs) of the signalling, this Earshot \(WireJSON.version)"
        case .unanswered: "\(guest) asked to join and got no answer within 30 s"
        case .cancelled: "\(guest) no longer asks to join"
        case .blocked: "\(guest) asked to join and is blocked"
        case .unknownKey, .keyNeeded: "\(guest) asked to join and is not known"
        case .changedKey(let name, _):
            "\(guest) says to be '\(name)' and has ANOTHER KEY than '\(name)' had; it was refused"
        case .wrongPIN: "\(guest) gave a wrong PIN"
        case .tooManyAttempts: "\(guest) gave too many wrong PINs and has to wait"
        case .busy: "too many are asking to join at once; some were turned away"
        case .full(let limit): "\(guest) asked to join and the room is full, with \(limit) members"
        case .ownKey: "another Earshot with this machine's identity asked to join; it was refused"
        default: nil
        }
    }
}
