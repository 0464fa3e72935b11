// SPDX-License-Identifier: Apache-2.0

/// The negotiation of a call's media with each remote peer. The owner of the transport takes the media descriptions from here and
/// adds the address, the port and the attributes of ICE and DTLS. It also reads those attributes from remote descriptions.
///
/// For any thread; two methods for the same remote peer must not run at once.
public protocol MediaNegotiator: AnyObject, Sendable {
    /// The client by which a ``MediaPort`` transports the negotiated media; nil if there never is one.
    var client: (any MediaClient)? { get }

    /// Returns the media to offer to a remote peer. Nothing flows before ``accept(_:from:)``.
    func offer(to peer: PeerID) throws -> SessionDescription
    /// Answers a remote peer's offer; media flows once the transport is open. A later offer replaces an earlier one.
    func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription
    /// Applies a remote peer's answer to the last offer made to it; media flows once the transport is open.
    func accept(_ answer: SessionDescription, from peer: PeerID) throws
    /// Ends the media with a remote peer, after the port has removed that peer.
    func end(_ peer: PeerID)
}
