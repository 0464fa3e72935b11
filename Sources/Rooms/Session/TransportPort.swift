// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transports that a ``SessionCore`` adds, removes and observes: those of a `MediaPort`, or simulated ones.
package protocol TransportPort: AnyObject {
    /// Adds a remote peer.
    /// - Returns: the transport that its events name.
    func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> MediaPort.TransportID
    /// Sets the remote peer's description, or adds its candidates to an earlier one.
    func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID)
    /// Closes the transport and notifies the remote peer.
    func remove(_ peer: PeerID)
    /// Returns the transport's state; nil if there is none.
    func report(of peer: PeerID) -> MediaPortReport?
}

extension MediaPort: TransportPort {}
