// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An event from a host to a member: `event:` has its name, `data:` its JSON.
package enum RoomEvent: Hashable, Sendable {
    /// `roster`: the complete roster.
    case roster(Roster)
    /// `offer`: another member, or the host, offers media; the answer goes to `POST /room/offers/{offer}/answer`.
    case offer(SignedDescription)
    /// `ended`: the remote peer ended the media session of this offer.
    case ended(OfferID)
    /// `removed`: the host removed this member, and blocked it if `isBlocked`.
    case removed(isBlocked: Bool)
    /// `replaced`: the same key opened another stream, which replaces this one.
    case replaced
    /// `closing`: the host leaves. The member `next` takes over; if nil, the room ends.
    case closing(next: MemberID?)

    private struct Offer: Codable {
        var offer: String
        var sdp: String?
        var signature: Base64?
        var publicKey: Base64?
    }

    private struct Removed: Codable {
        var blocked: Bool
    }

    private struct Closing: Codable {
        var next: MemberID?
    }

    private struct Nothing: Codable {}

    /// The event's name: the value of the field `event:`.
    package var name: String {
        switch self {
        case .roster: "roster"
        case .offer: "offer"
        case .ended: "ended"
        case .removed: "removed"
        case .replaced: "replaced"
        case .closing: "closing"
        }
    }

    /// The event's JSON on one line: the value of the field `data:`.
    var data: String {
        let bytes =
            switch self {
            case .roster(let roster): WireJSON.encoded(roster)
            case .offer(let description):
                WireJSON.encoded(
                    Offer(
                        offer: description.offer.description, sdp: description.sdp,
                        signature: description.signature.map(Base64.init),
                        publicKey: description.publicKey.map(Base64.init)))
            case .ended(let offer): WireJSON.encoded(Offer(offer: offer.description))
            case .removed(let isBlocked): WireJSON.encoded(Removed(blocked: isBlocked))
            case .replaced: WireJSON.encoded(Nothing())
            case .closing(let next): WireJSON.encoded(Closing(next: next))
            }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads an event; nil if its name is unknown to this version.
    package init?(_ event: ServerSentEvent) throws(RoomError) {
        let data = Array(event.data.utf8)
        switch event.name {
        case "roster": self = .roster(try WireJSON.decoded(Roster.self, from: data))
        case "offer":
            let offer = try WireJSON.decoded(Offer.self, from: data)
            guard let id = OfferID(offer.offer), let sdp = offer.sdp else {
                throw .malformed("an offer without its parts")
            }
            self = .offer(
                SignedDescription(
                    offer: id, sdp: sdp, signature: offer.signature?.bytes, publicKey: offer.publicKey?.bytes))
        case "ended":
            guard let id = OfferID(try WireJSON.decoded(Offer.self, from: data).offer) else {
                throw .malformed("an end without its offer")
            }
            self = .ended(id)
        case "removed": self = .removed(isBlocked: try WireJSON.decoded(Removed.self, from: data).blocked)
        case "replaced": self = .replaced
        case "closing": self = .closing(next: try WireJSON.decoded(Closing.self, from: data).next)
        default: return nil
        }
    }
}
