// SPDX-License-Identifier: Apache-2.0

/// The role in a DTLS handshake (RFC 5763 §5): the client begins.
public enum DTLSRole: Hashable, Sendable, CaseIterable {
    /// Sends the first message: `a=setup:active`.
    case client
    /// Waits for the first message: `a=setup:passive`.
    case server

    /// The role of the other side.
    package var opposite: DTLSRole { self == .client ? .server : .client }

    /// Creates the offerer's role, which follows from its offer and the answer. Nil if offer and answer contradict each other, or
    /// either wants no connection.
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
    /// Client or server, as the answerer chooses. Every offer should have this value.
    case either = "actpass"
    /// The client.
    case active
    /// The server.
    case passive
    /// No connection for now.
    case holdConnection = "holdconn"

    /// Returns the answer to this offer.
    /// - Parameter role: the role to choose if the offer allows both. A client connects half a round trip sooner.
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
