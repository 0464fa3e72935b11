// SPDX-License-Identifier: Apache-2.0

/// The negotiation of media with each remote peer: a call. The transport's owner gets media descriptions and adds address, port
/// and the attributes of ICE and DTLS, which it also reads from remote descriptions.
///
/// Any thread, one call at a time for a remote peer.
public protocol MediaNegotiator: AnyObject, Sendable {
    /// The client of the ``MediaPort`` for the negotiated media; nil if there never is one.
    var client: (any MediaClient)? { get }

    /// Returns the media to offer to a remote peer. Nothing flows before ``accept(_:from:)``.
    func offer(to peer: PeerID) throws -> SessionDescription
    /// Answers a remote peer's offer; media flows once the transport is open. A later offer replaces an earlier one.
    func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription
    /// Applies a remote peer's answer to the last offer made to it; media flows once the transport is open.
    func accept(_ answer: SessionDescription, from peer: PeerID) throws
    /// Ends the media with a remote peer. The port removes it first.
    func end(_ peer: PeerID)
}
