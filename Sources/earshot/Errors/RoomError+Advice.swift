// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

extension RoomError: AdvisedError {
    var advice: String? {
        switch self {
        case .malformed, .version, .tooLarge, .wrongMediaType, .wrongMethod:
            "Install the same version of Earshot on both sides."
        case .notFound: "Check that Earshot is running at this address and port."
        case .declined: "Ask the host, and try again."
        case .unanswered: "Tell the host that you are waiting, and try again."
        case .replaced: "Close one of the two."
        case .unknownKey: "Ask the host to admit you once with --accept ask."
        case .keyNeeded: "Use earshot join."
        case .changedKey(_, let was): "Use another name, or ask the host to run: \(Self.forgetting(was))"
        case .ownKey: "Join from another account or machine, or use --ephemeral."
        case .pinNeeded: "Ask the host for it, and use --pin."
        case .wrongPIN(attemptsLeft: 0):
            "Ask the host for it, and try again in \(Self.time(Int(PINAttempts.window)))."
        case .wrongPIN: "Ask the host for it."
        case .tooManyAttempts(let seconds): "Ask the host for the right one, and try again in \(Self.time(seconds))."
        case .busy(let seconds): "Try again in \(Self.time(seconds))."
        case .full: "Wait until a participant leaves."
        case .closed, .notHost: "List rooms: earshot join --list"
        case .removed: "Ask the host, and join again."
        case .notMember: "Join again."
        case .memberAway: "Try again in a few seconds."
        case .offerUnanswered: "Try again."
        case .cancelled, .blocked, .noSuchMember, .noSuchOffer, .other: nil
        }
    }

    /// Returns the sentence about a refused guest for the host's user, with advice; nil if the user need not know of the refusal.
    func hostSentence(about guest: String) -> String? {
        hostDescription(about: guest).map { ErrorText.join($0, hostAdvice) }
    }

    private var hostAdvice: String? {
        switch self {
        case .malformed: "The guest may run another version or program."
        case .version: "Install the same version of Earshot on both sides."
        case .unknownKey, .keyNeeded: "To admit new guests, use --accept ask."
        case .changedKey(_, let was):
            "Somebody may be posing as them. If they have a new machine, or came with --ephemeral, run: "
                + Self.forgetting(was)
        case .full: "To admit them, remove a participant."
        default: nil
        }
    }

    static func forgetting(_ key: KeyFingerprint) -> String { "earshot peers forget \(key.hex.prefix(16))" }

    private static func time(_ seconds: Int) -> String {
        seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) minutes"
    }
}

extension RoomEnding: AdvisedError {
    var advice: String? {
        switch self {
        case .refused(let error): error.advice
        case .unreached(let failure, let endpoint): failure.advice(endpoint)
        case .changedKey(_, let was, _):
            "Somebody may be posing as them. A new machine and --ephemeral change the key too. Compare the new key with "
                + "theirs, then run: \(RoomError.forgetting(was))"
        case .blockedHost(_, let key): "Unblock it: earshot peers unblock \(key.hex.prefix(16))"
        case .noPINWanted: "If it is the room you mean, join without --pin."
        case .impostor: "Somebody may be posing as the host: compare the key."
        case .removed(false): RoomError.removed.advice
        case .removed(true): RoomError.blocked.advice
        case .replaced: RoomError.replaced.advice
        case .dropped: RoomError.notMember.advice
        case .lost: "Check the network, and join again."
        case .closed, .becameHost, .left: nil
        }
    }
}

extension RequestFailure {
    fileprivate func advice(_ endpoint: Endpoint) -> String {
        let port = endpoint.addresses.first?.port ?? JoinCode.usualPort
        return switch self {
        case .refused: "Check that Earshot hosts a room there, on port \(port)."
        case .unreachable: "Check that both are on the same network: ip route get ADDRESS"
        case .timedOut:
            "Check the address, that no firewall blocks TCP port \(port), and that the Wi-Fi lets its devices reach each "
                + "other."
        case .closed: "Try again, and see what the host printed."
        case .wrongKey: "Another machine may be at the address now. Ask the host for a new join code."
        case .invalidResponse: "Check address and port."
        }
    }
}

extension JoinCodeError: AdvisedError {
    var advice: String? {
        switch self {
        case .wrongCharacter, .wrongLength, .wrongCheck: "Compare it with the host's."
        case .otherVersion: "Install the host's version of Earshot on this machine."
        case .notACode: "Ask the host for it again."
        case .linkLocal: "Join by name, or by the address followed by % and your network interface."
        case .notAHost: "List this machine's addresses: ip address"
        }
    }
}

extension KnownPeersError: AdvisedError {
    var advice: String? {
        switch self {
        case .tooLarge: "Repair it, or move it elsewhere to start with an empty list."
        case .otherVersion: "Use the newer version of Earshot."
        case .damaged: "Repair it, or move it elsewhere to start with an empty list."
        }
    }
}

extension TextError: AdvisedError {
    var advice: String? {
        switch reason {
        case .empty: "Use at least one visible character."
        case .tooLong: "Shorten it."
        case .tooShort: "Choose a longer one."
        case .forbidden: "Remove it."
        }
    }
}
