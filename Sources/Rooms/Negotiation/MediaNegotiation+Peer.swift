// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension MediaNegotiation {
    /// The negotiation with one member.
    struct Peer: Hashable, Sendable {
        /// The signalling state as in WebRTC, with two additional states in which a peer waits for the next offer.
        enum Stage: Hashable, Sendable {
            /// No offer is pending.
            case stable
            /// The remote peer should offer. The local peer offers at this time if no offer has come until then.
            case awaitingOffer(until: HostTime)
            /// The local peer offers at this time; if nil, once the member is no longer away or the local peer's media has
            /// changed.
            case waiting(until: HostTime?)
            /// An offer of the local peer is pending.
            case localOffer(OfferID)
            /// An offer of the remote peer is being answered.
            case remoteOffer(OfferID)

            /// The time at which the local peer offers; nil if it does not wait for a time.
            var offerTime: HostTime? {
                switch self {
                case .awaitingOffer(let time): time
                case .waiting(let time): time
                case .stable, .localOffer, .remoteOffer: nil
                }
            }
        }

        var member: Member
        /// True if the local peer offers first, by ``Roster/offerer(between:and:)``.
        let isOfferer: Bool
        var stage = Stage.stable
        /// The offer that led to the running session; nil without a session.
        var session: OfferID?
        /// The seconds until a failed offer is repeated.
        var delay = Limit.retry.lowerBound
        /// The time at which a session began whose transport has not opened yet; nil otherwise.
        var missingSince: HostTime?
        /// True if the user was told that media is missing.
        var isReportedMissing = false
        /// True if another offer must follow the pending one, because the local peer's media has changed or its last offer is
        /// uncertain.
        var offersAgain = false
        /// The origin of the remote peer's description that is being answered or applied; nil if it has none.
        var pendingOrigin: SessionDescription.Origin?
        /// The origin of the remote peer's description that was answered or applied last; kept when the session ends.
        var remoteOrigin: SessionDescription.Origin?
        /// True if the last local offer failed, although the remote peer may have answered it.
        var hasUncertainOffer = false

        init(_ member: Member, isOfferer: Bool) {
            self.member = member
            self.isOfferer = isOfferer
        }

        var deadline: HostTime? {
            var times = [reportTime, giveUpTime].compactMap { $0 }
            if let time = stage.offerTime { times.append(time) }
            return times.min()
        }

        /// The time at which the user is told that media is missing; nil if it flows or the user was told.
        var reportTime: HostTime? { isReportedMissing ? nil : missingSince?.advanced(bySeconds: Limit.firstMedia) }

        /// The time at which the local peer, if it is the offerer, gives up a session without media; nil if there is none.
        var giveUpTime: HostTime? { isOfferer ? missingSince?.advanced(bySeconds: Limit.connection) : nil }

        /// Schedules another offer after ``delay`` seconds, and doubles the delay for the next time.
        mutating func retry(_ now: HostTime) {
            stage = .waiting(until: now.advanced(bySeconds: delay))
            delay = min(Limit.retry.upperBound, delay * 2)
        }

        mutating func awaitOffer(_ now: HostTime) {
            stage = .awaitingOffer(until: now.advanced(bySeconds: Limit.connection))
        }

        mutating func begin(_ session: OfferID, keepsTransport: Bool, _ now: HostTime) {
            self.session = session
            stage = .stable
            hasUncertainOffer = false
            remoteOrigin = pendingOrigin
            if !keepsTransport { missingSince = now }
        }

        /// Returns true if a description with this origin is outdated, because the remote peer has sent a later one of the same
        /// session (RFC 3264 §8).
        ///
        /// A description with an equal version is not outdated: it is repeated because its answer may have been lost.
        func isOutdated(_ origin: SessionDescription.Origin) -> Bool {
            guard let remoteOrigin else { return false }
            return origin.sessionID == remoteOrigin.sessionID && origin.version < remoteOrigin.version
        }

        mutating func endSession() {
            session = nil
            missingSince = nil
        }
    }
}
