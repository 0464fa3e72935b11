// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a request failed: a code and an HTTP status on the wire, and a sentence for the user on each side.
public enum RoomError: Error, Hashable, Sendable {
    // Invalid requests.

    /// The body or a header field is invalid; the value describes the fault.
    case malformed(String)
    /// The remote peer uses this other version of the signalling.
    case version(Int)
    /// The body is larger than this limit in bytes.
    case tooLarge(limit: Int)
    /// The body has another media type than the request requires.
    case wrongMediaType
    /// The path is unknown.
    case notFound
    /// The path is known, but not with this method.
    case wrongMethod

    // Requests to join.

    /// The user at the host declined.
    case declined
    /// The user at the host did not answer within 30 seconds.
    case unanswered
    /// The guest cancelled the request.
    case cancelled
    /// The same key asked or connected again, from another process or connection.
    case replaced
    /// This key, or a browser's address, is blocked.
    case blocked
    /// Only known keys are admitted, and this one is unknown.
    case unknownKey
    /// Only known keys are admitted, and this guest is a browser, which has no key.
    case keyNeeded
    /// The name belongs to another key, whose fingerprint is the value.
    case changedKey(name: PeerName, was: KeyFingerprint)
    /// The guest has the host's own key.
    case ownKey
    /// The proof of the PIN is missing.
    case pinNeeded
    /// The proof of the PIN is wrong.
    case wrongPIN(attemptsLeft: Int)
    /// There were too many wrong proofs of the PIN; the value is the seconds until the next proof is verified.
    case tooManyAttempts(retryAfter: Int)
    /// Too many guests are waiting, or the caller has made too many requests; the value is the seconds until the next try.
    case busy(retryAfter: Int)
    /// The room has the maximum number of members.
    case full(limit: Int)

    // The room and its members.

    /// The room has ended, or its host left while the request was pending.
    case closed
    /// This peer is a guest, is in no room, or has handed its room over.
    case notHost
    /// The room does not know the caller, which was never admitted, has left, or was away for 60 seconds.
    case notMember
    /// The host has removed the caller.
    case removed
    /// No member has this number.
    case noSuchMember
    /// The member was not heard for some seconds, or the host was lost while an offer was pending.
    case memberAway
    /// The offer was answered, was replaced, is too old, or never existed.
    case noSuchOffer
    /// The other member did not answer the offer in time, or the offer could not be sent.
    case offerUnanswered
    /// An error code of a newer host, which this version does not know.
    case other(code: String, status: Int, message: String)
}

extension RoomError {
    /// The error's code: the value of `"error"` in the JSON.
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

    /// The HTTP status.
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

    /// The seconds until the next try, for the header field `Retry-After`; nil if they are not known.
    public var retryAfter: Int? {
        switch self {
        case .tooManyAttempts(let seconds), .busy(let seconds): seconds
        case .memberAway: 5
        default: nil
        }
    }
}
