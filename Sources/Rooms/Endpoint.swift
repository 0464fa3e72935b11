// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A peer's addresses, and the key that it must prove.
public struct Endpoint: Hashable, Sendable {
    /// The key that the TLS handshake must prove; otherwise the connection is closed before anything is sent.
    public enum ExpectedKey: Hashable, Sendable {
        /// Any key, for a first contact by address or by name.
        case any
        /// Any key that matches this join code.
        case matching(JoinCode)
        /// This key.
        case exactly(KeyFingerprint)

        /// Returns true if a verified key is acceptable.
        package func accepts(_ key: KeyFingerprint) -> Bool {
            switch self {
            case .any: true
            case .matching(let code): code.matches(key)
            case .exactly(let expected): key == expected
            }
        }
    }

    /// The addresses to try together; the first that answers is used.
    public var addresses: [SocketAddress]
    /// The expected key.
    public var key: ExpectedKey

    /// Creates an endpoint.
    public init(addresses: [SocketAddress], key: ExpectedKey) {
        self.addresses = addresses
        self.key = key
    }

    /// Creates the endpoint of a join code.
    public init(_ code: JoinCode) {
        self.init(addresses: [SocketAddress(code.address, port: code.port)], key: .matching(code))
    }

    /// Creates the endpoint of a native member; nil for a browser.
    public init?(_ member: Member) {
        guard let key = member.key, member.port != 0, !member.addresses.isEmpty else { return nil }
        self.init(addresses: member.addresses.map { SocketAddress($0, port: member.port) }, key: .exactly(key))
    }
}

/// The origin of a request, as the connection shows it.
package struct RequestOrigin: Hashable, Sendable {
    /// The sender's address.
    package var address: IPAddress
    /// The key of the client certificate, verified in the TLS handshake.
    package var key: KeyFingerprint?
    /// The value of `Authorization: Bearer`.
    package var token: String?

    /// Creates an origin.
    package init(address: IPAddress, key: KeyFingerprint? = nil, token: String? = nil) {
        self.address = address
        self.key = key
        self.token = token
    }

    /// Creates an origin, with the token in a request's fields.
    package init(address: IPAddress, key: KeyFingerprint?, parts: HTTPMessage) {
        let words = parts.fields["authorization"]?.split(separator: " ") ?? []
        let isBearer = words.count == 2 && words[0].lowercased() == "bearer" && words[1].utf8.count <= 128
        self.init(address: address, key: key, token: isBearer ? String(words[1]) : nil)
    }
}
