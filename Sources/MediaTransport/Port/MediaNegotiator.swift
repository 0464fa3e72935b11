// SPDX-License-Identifier: Apache-2.0

/// The negotiation of media with each remote peer: a call. The transport's owner asks it for media descriptions and adds the
/// transport: address, port, ICE and DTLS attributes, which it also reads from the remote peers' descriptions.
///
/// Any thread, one call at a time for one remote peer.
public protocol MediaNegotiator: AnyObject, Sendable {
    /// The client of the ``MediaPort`` that carries the negotiated media; nil if none ever is.
    var client: (any MediaClient)? { get }

    /// The media that is offered to a remote peer. Nothing flows before ``accept(_:from:)``.
    func offer(to peer: PeerID) throws -> SessionDescription
    /// Answers a remote peer's offer; media flows as soon as there is a way. A later one takes the place of an earlier.
    func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription
    /// A remote peer has answered the last offer made to it; media flows as soon as there is a way.
    func accept(_ answer: SessionDescription, from peer: PeerID) throws
    /// A remote peer is gone: what was agreed on with it is over. The port lets go of it first.
    func end(_ peer: PeerID)
}
