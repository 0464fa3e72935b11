// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transports that a ``SessionCore`` adds, removes and observes: those of a `MediaPort`, or simulated ones.
package protocol TransportPort: AnyObject {
    /// Adds a remote peer.
    /// - Returns: the id of the new transport, which the port's events name.
    func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> MediaPort.TransportID
    /// Sets the parameters of the transport's remote peer, or adds candidates to those set earlier.
    func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID)
    /// Closes the transport and notifies the remote peer.
    func remove(_ peer: PeerID)
    /// Returns the state of the transport to a remote peer; nil if there is none.
    func report(of peer: PeerID) -> MediaPortReport?
}

extension MediaPort: TransportPort {}
