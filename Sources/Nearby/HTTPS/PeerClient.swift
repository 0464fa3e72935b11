// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Synchronization

/// HTTPS to one peer, which must prove the expected key.
final class PeerClient: Sendable {
    private final class KeySeen: Sendable {
        let key = Mutex<KeyFingerprint?>(nil)
    }

    let http: HTTPSClient
    private let seen: KeySeen

    init(_ endpoint: Endpoint, identity: TLSIdentity) throws(HTTPSError) {
        let seen = KeySeen()
        let expected = endpoint.key
        http = try HTTPSClient(addresses: endpoint.addresses, identity: identity) { spki in
            guard let key = try? PublicKey(spki: spki).fingerprint else {
                return .refused(expected: expected.summary, found: "one that cannot be read")
            }
            seen.key.withLock { $0 = key }
            return expected.accepts(key) ? .trusted : .refused(expected: expected.summary, found: key.description)
        }
        self.seen = seen
    }

    /// The last key that the peer presented, right or wrong; nil before.
    var found: KeyFingerprint? { seen.key.withLock { $0 } }
}

extension Endpoint.ExpectedKey {
    fileprivate var summary: String {
        switch self {
        case .any: "any"
        case .matching(let code): "that of the code \(code)"
        case .exactly(let key): key.description
        }
    }
}
