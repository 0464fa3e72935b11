// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a request failed: a code and an HTTP status on the wire, and a sentence for the person on each side.
public enum RoomError: Error, Hashable, Sendable {
    // The request makes no sense.

    /// The body or a header field is not what it should be.
    case malformed(String)
    /// The other side speaks this version of the signalling.
    case version(Int)
    /// More bytes than are read.
    case tooLarge(limit: Int)
    /// A body of another type than the request's.
    case wrongMediaType
    /// No such path.
    case notFound
    /// The path is right and the method is not.
    case wrongMethod

    // Asking to be let in.

    /// The person at the host said no.
    case declined
    /// The person at the host said nothing for 30 seconds.
    case unanswered
    /// The guest took it back.
    case cancelled
    /// The same key asked or connected again, from another process or connection.
    case replaced
    /// This key, or for a browser its address, is shut out.
    case blocked
    /// Only known keys are admitted, and this one is unknown.
    case unknownKey
    /// Only known keys are admitted, and none was proved.
    case keyNeeded
    /// The name belongs to another key; the fingerprint is the old one's.
    case changedKey(name: PeerName, was: KeyFingerprint)
    /// The guest has the host's own key.
    case ownKey
    /// No proof of the PIN came.
    case pinNeeded
    /// The proof is not that of the room's PIN.
    case wrongPIN(attemptsLeft: Int)
    /// Too many wrong proofs; in seconds.
    case tooManyAttempts(retryAfter: Int)
    /// Too many are asking at once; in seconds.
    case busy(retryAfter: Int)
    /// The room has all the members that it can.
    case full(limit: Int)

    // The room and its members.

    /// The room has ended, or this host has left it.
    case closed
    /// This peer is a guest, or in no room.
    case notHost
    /// The room does not know the caller: never let in, or away for more than 60 s.
    case notMember
    /// The host has removed the caller.
    case removed
    /// No member has this number.
    case noSuchMember
    /// The member is there, and has not been heard of for some seconds.
    case memberAway
    /// The offer has been answered, is too old, or never was.
    case noSuchOffer
    /// The other member did not answer the offer in time.
    case offerUnanswered
    /// A newer host's code, which this version does not know.
    case other(code: String, status: Int, message: String)
}

extension RoomError {
    /// The value of `"error"`.
    package var code: String {
        switch self {
        case .malformed: "malformed"
        case .version: "version"
        case .tooLarge: "too-large"
        case .wrongMediaType: "wrong-media-type"
        case .notFound: "not-found"
        case .wrongMethod: "wrong-method"
        case .declined: "declined"
        case .unanswered: "unanswered"
        case .cancelled: "cancelled"
        case .replaced: "replaced"
        case .blocked: "blocked"
        case .unknownKey: "unknown-key"
        case .keyNeeded: "key-needed"
        case .changedKey: "changed-key"
        case .ownKey: "own-key"
        case .pinNeeded: "pin-needed"
        case .wrongPIN: "wrong-pin"
        case .tooManyAttempts: "too-many-attempts"
        case .busy: "busy"
        case .full: "full"
        case .closed: "closed"
        case .notHost: "not-host"
        case .notMember: "not-member"
        case .removed: "removed"
        case .noSuchMember: "no-such-member"
        case .memberAway: "member-away"
        case .noSuchOffer: "no-such-offer"
        case .offerUnanswered: "offer-unanswered"
        case .other(let code, _, _): code
        }
    }

    /// HTTP's.
    package var status: Int {
        switch self {
        case .malformed, .version: 400
        case .declined, .unanswered, .blocked, .unknownKey, .keyNeeded, .changedKey, .notMember, .removed: 403
        case .notFound, .noSuchMember, .noSuchOffer: 404
        case .wrongMethod: 405
        case .cancelled, .replaced, .ownKey, .full: 409
        case .closed: 410
        case .tooLarge: 413
        case .wrongMediaType: 415
        case .notHost: 421
        case .pinNeeded, .wrongPIN: 423
        case .tooManyAttempts, .busy: 429
        case .memberAway: 503
        case .offerUnanswered: 504
        case .other(_, let status, _): status
        }
    }

    /// Seconds after which it may be tried again: `Retry-After`.
    public var retryAfter: Int? {
        switch self {
        case .tooManyAttempts(let seconds), .busy(let seconds): seconds
        case .memberAway: 5
        default: nil
        }
    }
}
