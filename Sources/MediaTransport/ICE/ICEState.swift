// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The state of an agent, with the time at which it began. The agent updates its state in ``ICEAgent/tick(at:transmit:)`` and
    /// other calls.
    package enum State: Hashable, Sendable {
        /// Looking for a path: at the beginning, and after the local address in use has gone.
        case checking(since: HostTime)
        /// There is a path; media may be sent.
        case connected(ICEPair, since: HostTime)
        /// The path has returned nothing for three seconds or more; `since` is the time of the last contact. Media may still be
        /// sent while the peer's consent lasts.
        case disconnected(since: HostTime)
        /// The peer's consent has expired: media must stop (RFC 7675 §5.1). Checks continue; an answer makes the state
        /// `connected` again.
        case consentExpired(since: HostTime)
        /// ``ICEAgent/close()`` was called; nothing is sent or received.
        case closed
    }

    /// The kind of a datagram passed to ``ICEAgent/receive(_:from:to:at:transmit:)``.
    package enum Received: Hashable, Sendable {
        /// A check from the peer, which was answered.
        case check
        /// The answer to a local check.
        case answer
        /// The datagram was dropped, or the check refused, for this reason.
        case ignored(Reason)
    }

    /// The reason that a datagram was dropped, or a check refused.
    package enum Reason: Hashable, Sendable {
        /// The datagram is not valid STUN.
        case malformed(STUNError)
        /// STUN that ICE has no use for: another method, an indication, a message without FINGERPRINT or user name, an impossible
        /// source, or an answer that lacks its address or code.
        case notACheck
        /// The check has the user name of another agent: on a shared port, or a local check that was sent back.
        case otherUser
        /// The sender does not know the password: its MESSAGE-INTEGRITY is missing or wrong.
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
