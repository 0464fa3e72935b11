import MediaTransport

extension RoomError: CustomStringConvertible {
    /// For the person who asked: what happened, and what to do next.
    public var description: String {
        switch self {
        case .malformed(let what): "the host could not read the request: \(what); install the same version on both"
        case .version(let theirs):
            "version \(theirs) of the signalling meets version \(WireJSON.version); install the same Earshot on both"
        case .tooLarge(let limit): "the request has more than \(limit) bytes; install the same version on both"
        case .wrongMediaType: "the host expected another type of content; install the same version on both"
        case .notFound: "there is nothing at this path; is it Earshot at this address and port?"
        case .wrongMethod: "the host does not take this method at this path; install the same version on both"
        case .declined: "the host said no; ask them, and try again"
        case .unanswered: "nobody at the host answered within 30 s; call them, and try again"
        case .cancelled: "the request was taken back"
        case .replaced: "another Earshot with this machine's identity took the place; end one of the two"
        case .blocked: "the host has blocked this device; only the host can lift that"
        case .unknownKey: "the host lets in only whom it knows; ask them to let you in once with --accept ask"
        case .keyNeeded: "the host lets in only whom it knows, and a browser cannot prove who it is; use earshot join"
        case .changedKey(let name, let was):
            "the host knows '\(name)' by another key (\(was)); take another name, or have the host type: "
                + Self.forgetting(was)
        case .ownKey:
            "this Earshot has the host's own identity; join from another user's account or machine, or with --ephemeral"
        case .pinNeeded: "the room has a PIN; ask the host for it and give it with --pin"
        case .wrongPIN(attemptsLeft: 0):
            "wrong PIN, and no more tries; ask the host for it, and try again in \(Self.time(Int(PINAttempts.window)))"
        case .wrongPIN(let left): "wrong PIN, \(left) more \(left == 1 ? "try" : "tries"); ask the host for it"
        case .tooManyAttempts(let seconds):
            "too many wrong PINs; ask the host for the right one, and try again in \(Self.time(seconds))"
        case .busy(let seconds): "too many are asking at once; try again in \(Self.time(seconds))"
        case .full(let limit): "the room is full, with \(limit) members; wait until somebody leaves"
        case .closed: "the room has ended; see which are there with: earshot join"
        case .notHost: "this peer admits nobody at present; see who does with: earshot join"
        case .removed: "the host removed you from the room; ask them, and join again"
        case .notMember: "the room does not know you any more; join again"
        case .noSuchMember: "that member has left the room"
        case .memberAway: "that member cannot be reached at the moment; try again in some seconds"
        case .noSuchOffer: "that offer has been answered already, or is too old; make another"
        case .offerUnanswered: "that member did not answer in time; try again"
        case .other(_, _, let message): "the host says: \(message)"
        }
    }

    /// For the person at the host, about the guest named; nil where the host need not hear of it.
    public func hostSentence(about guest: String) -> String? {
        switch self {
        case .malformed(let what): "\(guest) sent what cannot be read (\(what)); it may be another version or program"
        case .version(let theirs):
            "\(guest) speaks version \(theirs) of the signalling, this Earshot \(WireJSON.version); install the same on both"
        case .unanswered: "\(guest) asked to join and got no answer within 30 s"
        case .cancelled: "\(guest) no longer asks to join"
        case .blocked: "\(guest) asked to join and is blocked"
        case .unknownKey, .keyNeeded:
            "\(guest) asked to join and is not known; to let in somebody new, host with --accept ask"
        case .changedKey(let name, let was):
            "\(guest) says to be '\(name)' and has ANOTHER KEY than '\(name)' had; it was refused. Somebody may be posing as "
                + "them. If they have a new machine, or came with --ephemeral, type: \(Self.forgetting(was))"
        case .wrongPIN: "\(guest) gave a wrong PIN"
        case .tooManyAttempts: "\(guest) gave too many wrong PINs and has to wait"
        case .busy: "too many are asking to join at once; some were turned away"
        case .full(let limit):
            "\(guest) asked to join and the room is full, with \(limit) members; remove one to let them in"
        case .ownKey: "another Earshot with this machine's identity asked to join; it was refused"
        default: nil
        }
    }

    private static func forgetting(_ key: KeyFingerprint) -> String { "earshot peers forget \(key.hex.prefix(16))" }

    private static func time(_ seconds: Int) -> String {
        seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) minutes"
    }
}
