// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The state of an agent, with the time at which it began. It is current after ``ICEAgent/tick(at:transmit:)`` or another
    /// call.
    package enum State: Hashable, Sendable {
        /// Looking for a path: at the beginning, and after the local address in use has gone.
        case checking(since: HostTime)
        /// There is a path; media may be sent.
        case connected(ICEPair, since: HostTime)
        /// The path has returned nothing for three seconds or more. Media may still be sent while the peer's consent lasts.
        case disconnected(since: HostTime)
        /// The peer's consent has expired: media must stop (RFC 7675 §5.1). Checks continue; an answer makes the state
        /// `connected` again.
        case consentExpired(since: HostTime)
        /// ``ICEAgent/close()`` was called; nothing is sent or received.
        case closed
    }

    /// The kind of a datagram passed to ``ICEAgent/receive(_:from:to:at:transmit:)``.
    package enum Received: Hashable, Sendable {
        /// A check of the peer, which was answered.
        case check
        /// The answer to a local check.
        case answer
        /// Dropped.
        case ignored(Reason)
    }

    /// The reason that a datagram was dropped, or a check refused.
    package enum Reason: Hashable, Sendable {
        /// Not STUN.
        case malformed(STUNError)
        /// STUN, but not of ICE: another method, an indication, without FINGERPRINT, without a user name.
        case notACheck
        /// The user name of another agent: on a shared port, or a local check that was sent back.
        case otherUser
        /// The password is wrong.
        case unauthentic
        /// An authentic check that was received before, from another source or too often.
        case replayed
        /// A check with unsupported required attributes; refused with error 420.
        case notUnderstood
        /// A check from an agent with the same role; refused with error 487.
        case roleConflict
        /// No check awaits this answer.
        case noTransaction
        /// The answer took another path than its check, which RFC 8445 §7.2.5.2.1 forbids.
        case asymmetric
        /// The peer answered with this error.
        case refused(Int)
        /// The agent is closed.
        case closed
    }
}
