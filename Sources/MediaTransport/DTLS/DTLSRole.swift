// SPDX-License-Identifier: Apache-2.0

/// The role in a DTLS handshake (RFC 5763 §5): the client begins.
public enum DTLSRole: Hashable, Sendable, CaseIterable {
    /// Sends the first message: `a=setup:active`.
    case client
    /// Waits for it: `a=setup:passive`.
    case server

    /// The other side's.
    package var opposite: DTLSRole { self == .client ? .server : .client }

    /// The role of the offering side by offer and answer; nil if the two do not fit.
    package init?(ofOffererOf offer: DTLSSetup, answeredBy answer: DTLSSetup) {
        switch (offer, answer) {
        case (.either, .passive), (.active, .passive): self = .client
        case (.either, .active), (.passive, .active): self = .server
        default: return nil
        }
    }
}

/// The value of `a=setup` (RFC 4145 §4, for DTLS by RFC 8842 §5).
public enum DTLSSetup: String, Hashable, Sendable, CaseIterable {
    /// The client, or the server, as the other side likes. What every offer says.
    case either = "actpass"
    /// The client.
    case active
    /// The server.
    case passive
    /// Not now; no DTLS.
    case holdConnection = "holdconn"

    /// Returns the answer to this.
    /// - Parameter role: the role to take if the offer leaves the choice. A client connects half a round trip sooner.
    /// - Returns: nil if the offer wants no connection.
    package func answer(preferring role: DTLSRole = .client) -> DTLSSetup? {
        switch self {
        case .either: role == .client ? .active : .passive
        case .active: .passive
        case .passive: .active
        case .holdConnection: nil
        }
    }
}
