// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A guest that asks to join. The user decides.
public struct AskingGuest: Hashable, Sendable {
    /// The name that the guest chose.
    public var name: PeerName
    /// The guest's purpose.
    public var purpose: Purpose?
    /// The verified key; nil for a browser.
    public var key: KeyFingerprint?
    /// The address from which the request came.
    public var address: IPAddress
    /// True if a user admitted this key before.
    public var isKnown: Bool
}
