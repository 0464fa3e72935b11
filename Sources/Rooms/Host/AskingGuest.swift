// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A guest that asks to join. The user decides.
public struct AskingGuest: Hashable, Sendable {
    /// The name that the guest chose.
    public var name: PeerName
    /// The reason that the guest gives.
    public var purpose: Purpose?
    /// The key that the guest proved; nil for a browser.
    public var key: KeyFingerprint?
    /// The address that the request came from.
    public var address: IPAddress
    /// True if the user admitted this key before.
    public var isKnown: Bool
}
