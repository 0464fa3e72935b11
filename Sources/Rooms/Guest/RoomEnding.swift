// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a guest's stay ended.
public enum RoomEnding: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host refused the guest, or its answer showed that the guest cannot join or stay; the value is the reason.
    case refused(RoomError)
    /// The host was not reached, or its answer was invalid.
    case unreached(RequestFailure, Endpoint)
    /// The host has the key `now`, but a known peer with the key `was` has the same name.
    case changedKey(name: PeerName, was: KeyFingerprint, now: KeyFingerprint)
    /// The user has blocked this host.
    case blockedHost(PeerName, KeyFingerprint)
    /// The user gave a PIN, but the room has none.
    case noPINWanted(RoomInfo)
    /// The host accepted the PIN's proof but cannot prove that it knows the PIN.
    case impostor(KeyFingerprint)
    /// The host removed this guest, and blocked it if `isBlocked`.
    case removed(isBlocked: Bool)
    /// Another process with this guest's identity took the guest's place.
    case replaced
    /// The room has ended.
    case closed
    /// The host no longer knows this guest, usually because the guest was away for too long.
    case dropped
    /// No host of the room was heard for a minute.
    case lost
    /// This peer has become the host.
    case becameHost
    /// The user left, or cancelled the request to join.
    case left

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .unreached(let failure, let endpoint): Self.sentence(failure, endpoint)
        case .changedKey(let name, let was, let now):
            "'\(name)' HAS A DIFFERENT KEY (\(now)) than before (\(was)); nothing was sent"
        case .blockedHost(let name, _): "you have blocked '\(name)'"
        case .noPINWanted(let info): "'\(info.name)' asks for no PIN, so it may not be the room you mean"
        case .impostor(let key): "the host (\(key)) cannot prove that it knows the PIN"
        case .removed(false): RoomError.removed.description
        case .removed(true): RoomError.blocked.description
        case .replaced: RoomError.replaced.description
        case .closed: "the host has closed the room"
        case .dropped: RoomError.notMember.description
        case .lost: "the room was unreachable for \(Int(RoomGuest.Limit.absence)) s"
        case .becameHost: "this peer admits now"
        case .left: "left the room"
        }
    }

    private static func sentence(_ failure: RequestFailure, _ endpoint: Endpoint) -> String {
        let place = endpoint.addresses.map(\.description).joined(separator: ", ")
        return switch failure {
        case .refused: "nobody answers at \(place)"
        case .unreachable: "no route to \(place)"
        case .timedOut: "\(place) did not answer"
        case .closed: "\(place) hung up"
        case .wrongKey(let key): "\(place) has the key \(key), which is not the one expected"
        case .invalidResponse(let error): "\(place) does not answer like Earshot (\(error.code))"
        }
    }
}
