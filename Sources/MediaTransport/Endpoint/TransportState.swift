// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The state of the transport to a remote peer. Times are when the state began.
public enum TransportState: Hashable, Sendable {
    /// Looking for a way (ICE).
    case connecting(since: HostTime)
    /// There is a way; both sides prove who they are and agree on keys (DTLS).
    case securing(since: HostTime)
    /// Media goes both ways.
    case open(since: HostTime)
    /// No datagram for three seconds and more. Media is still sent.
    case silent(since: HostTime)
    /// The remote peer's consent to be sent to has ended, after half a minute (RFC 7675). Nothing is sent but the checks that will
    /// find it again; then it is open, with the keys it had.
    case suspended(since: HostTime)
    /// The remote peer has ended it, or this one has.
    case closed
    /// It cannot be, or can no longer.
    case failed(TransportError)

    /// True if media may be sent: the transport is open, silent or not.
    public var carriesMedia: Bool {
        switch self {
        case .open, .silent: true
        case .connecting, .securing, .suspended, .closed, .failed: false
        }
    }

    /// Returns true if nothing will come of it any more.
    public var isOver: Bool {
        switch self {
        case .closed, .failed: true
        case .connecting, .securing, .open, .silent, .suspended: false
        }
    }
}

/// The reason that there is no authenticated transport to a remote peer.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The handshake did not come about.
    case handshake(DTLSError)
    /// Somebody else's key: another program answers, or somebody is between.
    case otherKey(expected: KeyFingerprint, found: KeyFingerprint)
    /// No keys for media could be made.
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

/// An event of a ``MediaEndpoint``. What it hands out is valid during the call that hands it out.
@safe public enum TransportEvent {
    /// RTP or RTCP, decrypted and authentic.
    case packet(UnsafeRawBufferPointer)
    /// A message by ``MediaEndpoint/sendMessage(_:to:transmit:)``.
    case message(UnsafeRawBufferPointer)
    /// The way stands otherwise now.
    case state(TransportState)
}

/// The counts of one remote peer, beside RTP's.
public struct TransportStatistics: Hashable, Sendable {
    /// Datagrams that were sent protected.
    public var sent = 0
    /// Packets that were not sent, since there was no way or no consent.
    public var unsent = 0
    /// Packets taken.
    public var received = 0
    /// Packets refused since they were changed on the way, or are somebody else's.
    public var unauthentic = 0
    /// Packets refused since they had come before, or were too old to tell.
    public var replayed = 0
    /// Times that media went another way from then on.
    public var moves = 0

    /// Counts of zero.
    package init() {}
}
