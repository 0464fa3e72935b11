// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A peer's addresses, and the key that it must prove.
public struct Endpoint: Hashable, Sendable {
    /// The key that the peer must prove in the TLS handshake; otherwise the connection is closed before a request is sent.
    public enum ExpectedKey: Hashable, Sendable {
        /// Any key, for a first contact by address or by name.
        case any
        /// Any key that matches this join code.
        case matching(JoinCode)
        /// Only the key with this fingerprint.
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

    /// The addresses to try, one shortly after the other; the first that answers with an acceptable key is used.
    public var addresses: [SocketAddress]
    /// The key that the peer must prove.
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

    /// Creates the endpoint of a native member; nil for a browser, or if the member has no port or no address.
    public init?(_ member: Member) {
        guard let key = member.key, member.port != 0, !member.addresses.isEmpty else { return nil }
        self.init(addresses: member.addresses.map { SocketAddress($0, port: member.port) }, key: .exactly(key))
    }
}

/// The sender of a request: the address, and the key or token by which the sender is recognized.
package struct RequestOrigin: Hashable, Sendable {
    /// The sender's address.
    package var address: IPAddress
    /// The key of the client certificate, verified in the TLS handshake; nil without a certificate.
    package var key: KeyFingerprint?
    /// The browser's token, from the header field `Authorization: Bearer`; nil without one.
    package var token: String?

    /// Creates an origin.
    package init(address: IPAddress, key: KeyFingerprint? = nil, token: String? = nil) {
        self.address = address
        self.key = key
        self.token = token
    }

    /// Creates an origin with the bearer token in a request's header field `Authorization`, if there is one of at most 128 bytes.
    package init(address: IPAddress, key: KeyFingerprint?, parts: HTTPMessage) {
        let words = parts.fields["authorization"]?.split(separator: " ") ?? []
        let isBearer = words.count == 2 && words[0].lowercased() == "bearer" && words[1].utf8.count <= 128
        self.init(address: address, key: key, token: isBearer ? String(words[1]) : nil)
    }
}
