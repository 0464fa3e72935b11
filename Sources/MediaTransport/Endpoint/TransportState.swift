// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The state of the transport to a remote peer, with the time at which it began.
public enum TransportState: Hashable, Sendable {
    /// ICE is looking for a path.
    case connecting(since: HostTime)
    /// There is a path; DTLS verifies both sides and negotiates keys.
    case securing(since: HostTime)
    /// Media can flow both ways.
    case open(since: HostTime)
    /// For three seconds or more no check was answered, or with a browser no datagram arrived; or the local address in use has
    /// gone. Media is still sent while there is a path.
    case silent(since: HostTime)
    /// The remote peer's consent has expired after half a minute (RFC 7675). Only checks are sent; an answer reopens the
    /// transport with the same keys.
    case suspended(since: HostTime)
    /// Either side has closed the transport.
    case closed
    /// The transport failed for good.
    case failed(TransportError)

    /// Returns true if media may be sent: the state is open or silent.
    public var carriesMedia: Bool {
        switch self {
        case .open, .silent: true
        case .connecting, .securing, .suspended, .closed, .failed: false
        }
    }

    /// Returns true if the transport is closed or failed.
    public var isOver: Bool {
        switch self {
        case .closed, .failed: true
        case .connecting, .securing, .open, .silent, .suspended: false
        }
    }
}

/// The reason that there is no authenticated transport to a remote peer.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The DTLS handshake failed.
    case handshake(DTLSError)
    /// The remote peer has another key: a different program answers, or a third party is in between.
    case otherKey(expected: KeyFingerprint, found: KeyFingerprint)
    /// The keys of the media could not be derived.
    case protection(SRTPError)

    /// One line for the user.
    public var description: String {
        switch self {
        case .handshake(let error): error.description
        case .otherKey(let expected, let found):
            "the remote peer has the key \(found), not \(expected): somebody else answers for it"
        case .protection(let error): error.description
        }
    }
}

/// An event of a ``MediaEndpoint``; its bytes are valid during the call.
@safe public enum TransportEvent {
    /// An authentic packet of RTP or RTCP, decrypted.
    case packet(UnsafeRawBufferPointer)
    /// A message sent by ``MediaEndpoint/sendMessage(_:to:transmit:)``.
    case message(UnsafeRawBufferPointer)
    /// The state of the transport has changed to this one.
    case state(TransportState)
}

/// The counts of one remote peer's transport. RTP's own counts are in ``RTPStatistics``.
public struct TransportStatistics: Hashable, Sendable {
    /// The protected datagrams sent.
    public var sent = 0
    /// The packets dropped instead of sent: there was no path, consent or key, or the packet was too large.
    public var unsent = 0
    /// The authentic packets received.
    public var received = 0
    /// The packets dropped because they were modified, forged or malformed, or by another error of SRTP.
    public var unauthentic = 0
    /// The packets dropped because they were repeated, or older than the replay window.
    public var replayed = 0
    /// The changes of the media's path.
    public var moves = 0

    /// Creates counts of zero.
    package init() {}
}
