// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension MediaNegotiation {
    /// The negotiation with one member.
    struct Peer: Hashable, Sendable {
        /// WebRTC's signalling states, and a wait between two offers.
        enum Stage: Hashable, Sendable {
            /// No offer is pending.
            case stable
            /// The remote peer offers first. The local peer offers at this time if no offer came.
            case awaitingOffer(until: HostTime)
            /// The local peer offers at this time; if nil, when the member is no longer away.
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
        /// The time since which media should flow and does not.
        var missingSince: HostTime?
        /// True if the user was told that media is missing.
        var isReportedMissing = false
        /// True if another offer must follow, because the local peer's media has changed since the pending one.
        var offersAgain = false
        /// The origin of the remote peer's description that is being answered or applied; nil if it has none.
        var pendingOrigin: SessionDescription.Origin?
        /// The origin of the remote peer's description that was answered or applied last; kept when the session ends.
        var remoteOrigin: SessionDescription.Origin?
        /// True if an offer failed that the remote peer may have answered.
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

        /// The time at which the user is told that media is missing.
        var reportTime: HostTime? { isReportedMissing ? nil : missingSince?.advanced(bySeconds: Limit.firstMedia) }

        /// The time at which the offerer gives up a session without media.
        var giveUpTime: HostTime? { isOfferer ? missingSince?.advanced(bySeconds: Limit.connection) : nil }

        /// Schedules another offer, each time after twice the delay.
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

        /// Returns true if the remote peer has sent a later description of the same session (RFC 3264 §8), and so given this one
        /// up.
        ///
        /// An equal version is a repetition, whose answer may have been lost.
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
