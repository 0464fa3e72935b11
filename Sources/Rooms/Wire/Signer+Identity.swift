// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension Signer {
    /// Creates a signer with an identity's key.
    package init(_ identity: Identity) {
        self.init(
            key: identity.fingerprint, publicKey: identity.publicKey.spki, sign: { identity.sign($0) },
            verify: { signature, bytes, spki in
                guard let key = try? PublicKey(spki: spki), key.isValid(signature: signature, for: bytes) else {
                    return nil
                }
                return key.fingerprint
            })
    }
}
