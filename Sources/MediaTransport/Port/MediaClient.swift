// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The media that a ``MediaPort`` carries: a call's. All calls come on the port's thread, which is real-time: they do not wait.
public protocol MediaClient: AnyObject {
    /// Wakes the port's thread: for the client's render callback.
    var wakeup: Wakeup { get }
    /// The scheduling of the port's thread: real-time (SCHED_FIFO) of this priority, or normal if nil.
    var realTimePriority: Int? { get }
    /// Returns true if there is something to send now.
    var hasMedia: Bool { get }
    /// When ``sendMedia(at:_:)`` has something to do next, whatever comes; nil when only a call or a capture can change that.
    var nextDeadline: HostTime? { get }

    /// Takes a packet, RTP or RTCP, that is authentic; it is valid during the call.
    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime)
    /// Sends what there is to send, and does what is due.
    /// - Parameter send: takes each packet; valid during the call.
    func sendMedia(at now: HostTime, _ send: MediaSend)
    /// Tells whether media can go to a remote peer from now on. Packets that cannot must not be numbered: after 2^15 of them the
    /// remote peer could not tell how often the numbers have begun anew (RFC 3711 §3.3.1).
    func setOpen(_ isOpen: Bool, to peer: PeerID)
    /// A remote peer is about to be let go of: what it should still hear, a goodbye, is to be sent now.
    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend)
}

/// Protects and sends a packet to a remote peer; drops and counts it if there is no path.
public typealias MediaSend = (UnsafeRawBufferPointer, PeerID) -> Void

/// An event of a ``MediaPort``.
public enum MediaPortEvent: Sendable {
    /// The way to a remote peer stands otherwise now; which way, since it may be another by the time that this is read.
    case state(PeerID, TransportState, of: MediaPort.Way)
    /// This machine's addresses are others now: remote peers want to know.
    case addresses([NetworkAddress])
}
