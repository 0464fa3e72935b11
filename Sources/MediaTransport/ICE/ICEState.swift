// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The state of an agent with its peer. Times are when the state began; what it is at an instant is known once
    /// ``ICEAgent/tick(at:transmit:)`` or another call has been given that instant.
    package enum State: Hashable, Sendable {
        /// Looking for a way: at the beginning, and after the address in use has gone.
        case checking(since: HostTime)
        /// There is a way; media may be sent.
        case connected(ICEPair, since: HostTime)
        /// There was a way, and nothing has come back by it since then, for three seconds and more. Media may still be
        /// sent, as the peer's consent lasts.
        case disconnected(since: HostTime)
        /// The peer's consent has ended: media must stop (RFC 7675 §5.1). Checks go on; when one is answered, the state is
        /// `connected` again.
        case consentExpired(since: HostTime)
        /// ``ICEAgent/close()`` was called; nothing is sent or taken any more.
        case closed
    }

    /// The kind of a datagram given to ``ICEAgent/receive(_:from:to:at:transmit:)``.
    package enum Received: Hashable, Sendable {
        /// A check of the peer's, answered.
        case check
        /// The answer to a check of ours.
        case answer
        /// Dropped.
        case ignored(Reason)
    }

    /// The reason that a datagram was dropped, or a check refused.
    package enum Reason: Hashable, Sendable {
        /// Not STUN.
        case malformed(STUNError)
        /// STUN, but none of ICE's: another method, an indication, without FINGERPRINT, without a username.
        case notACheck
        /// Another agent's user name: on a shared port somebody else's, or our own check that was sent back.
        case otherUser
        /// Not made with the password.
        case unauthentic
        /// An authentic check that came before, from elsewhere or too often.
        case replayed
        /// A check with attributes that must be understood and are not; refused with error 420.
        case notUnderstood
        /// A check from an agent that takes itself for what this one is; refused with error 487.
        case roleConflict
        /// No check of ours awaits this answer, or no longer.
        case noTransaction
        /// An answer that took another way than its check, which RFC 8445 §7.2.5.2.1 forbids.
        case asymmetric
        /// The peer has answered with this error.
        case refused(Int)
        /// The agent is closed.
        case closed
    }
}
