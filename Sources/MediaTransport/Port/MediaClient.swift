// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A call's media, which a ``MediaPort`` transports. The port's real-time thread calls all methods, so they must
/// not wait.
public protocol MediaClient: AnyObject {
    /// Wakes the port's thread, also from the client's render callback.
    var wakeup: Wakeup { get }
    /// The scheduling of the port's thread: real-time (SCHED_FIFO) of this priority, or normal if nil.
    var realTimePriority: Int? { get }
    /// True if ``sendMedia(at:_:)`` has something to do now: packets to send, or changes of peers to make.
    var hasMedia: Bool { get }
    /// The time of the next ``sendMedia(at:_:)``; nil if only another method or captured frames can require one.
    var nextDeadline: HostTime? { get }

    /// Receives an authentic packet of RTP or RTCP; valid during the call.
    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime)
    /// Sends the packets that are ready and does what is due.
    /// - Parameter send: receives each packet; valid during the call.
    func sendMedia(at now: HostTime, _ send: MediaSend)
    /// Notes if media can be sent to a remote peer now. Packets that cannot be sent must not be numbered: after 2^15 of them the
    /// remote peer would lose count of the sequence number's overflows (RFC 3711 §3.3.1).
    func setOpen(_ isOpen: Bool, to peer: PeerID)
    /// Sends last packets, such as a goodbye, before a remote peer is removed.
    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend)
}

/// Protects and sends a packet to a remote peer; drops and counts it if there is no path.
public typealias MediaSend = (UnsafeRawBufferPointer, PeerID) -> Void

/// An event of a ``MediaPort``.
public enum MediaPortEvent: Sendable {
    /// The state of a remote peer's transport has changed. The ID tells which transport, as the peer may have another one when
    /// the event is read.
    case state(PeerID, TransportState, of: MediaPort.TransportID)
    /// The local addresses have changed; remote peers should know.
    case addresses([NetworkAddress])
}
