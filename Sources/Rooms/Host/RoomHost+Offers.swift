// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Passes a member's offer of media to another member, or to the host.
    mutating func pass(
        _ description: SignedDescription, from: MemberID, to: MemberID, _ request: RequestID, _ now: HostTime
    ) -> [Action] {
        guard from != to, let receiver = roster[to] else { return [.reply(request, .refused(.noSuchMember))] }
        guard !receiver.isAway else { return [.reply(request, .refused(.memberAway))] }
        var offer = description
        offer.offer = OfferID(from: from, number: description.offer.number)
        // A description that needs many escapes in JSON makes an event that the receiver would reject.
        guard RoomEvent.offer(offer).data.utf8.count <= WireJSON.maximumBodySize else {
            return [.reply(request, .refused(.tooLarge(limit: WireJSON.maximumBodySize)))]
        }
        // A newer offer to the same member replaces the older one, so that each pair has at most one pending offer in each
        // direction.
        var actions = dropOffers { $0.description.offer.from == from && $0.to == to }
        store(offer, to: to, request, now)
        actions += to == roster.host ? [.offered(offer)] : deliver(.offer(offer), to: to, now)
        return actions
    }

    /// Offers the host's media to a member. Fails at once if the member is away or not in the room.
    mutating func offer(_ description: SignedDescription, to: MemberID, _ now: HostTime) -> [Action] {
        precondition(description.offer.from == roster.host)
        guard let receiver = roster[to], to != roster.host, !receiver.isAway else {
            return [.unanswered(description.offer)]
        }
        let from = roster.host
        let older = dropOffers { $0.description.offer.from == from && $0.to == to }
        store(description, to: to, nil, now)
        return older + deliver(.offer(description), to: to, now)
    }

    private mutating func store(_ offer: SignedDescription, to: MemberID, _ request: RequestID?, _ now: HostTime) {
        offers.append(
            PendingOffer(
                description: offer, to: to, request: request, deadline: now.advanced(bySeconds: Limit.answer)))
    }

    /// Passes on a member's answer to an offer.
    mutating func pass(_ answer: SignedDescription, from: MemberID, _ request: RequestID) -> [Action] {
        guard let index = offers.firstIndex(where: { $0.description.offer == answer.offer && $0.to == from }) else {
            return [.reply(request, .refused(.noSuchOffer))]
        }
        let offer = offers.remove(at: index)
        let passed: Action =
            offer.request.map { .reply($0, .answered(answer, by: from)) } ?? .answered(answer, by: from)
        return [.reply(request, .done), passed]
    }

    /// Answers an offer made to the host.
    mutating func answer(_ answer: SignedDescription) -> [Action] {
        guard let index = offers.firstIndex(where: { $0.description.offer == answer.offer && $0.to == roster.host })
        else { return [] }
        let offer = offers.remove(at: index)
        return offer.request.map { [.reply($0, .answered(answer, by: roster.host))] } ?? []
    }

    /// Tells the other member of a media session that this member has ended it.
    mutating func end(
        _ offer: OfferID, answeredBy answerer: MemberID, from: MemberID, _ request: RequestID, _ now: HostTime
    ) -> [Action] {
        guard from == offer.from || from == answerer else { return [.reply(request, .refused(.noSuchOffer))] }
        let other = from == answerer ? offer.from : answerer
        guard roster[other] != nil else { return [.reply(request, .done)] }
        let passed = other == roster.host ? [.ended(offer)] : deliver(.ended(offer), to: other, now)
        return [.reply(request, .done)] + passed
    }

    /// Drops the pending offers from and to a member that left.
    mutating func dropOffers(of member: MemberID) -> [Action] {
        dropOffers(to: member) + dropOffers { $0.description.offer.from == member }
    }

    /// Drops the pending offers to a member that has left or is away, and tells the members that made them.
    mutating func dropOffers(to member: MemberID) -> [Action] {
        let error: RoomError = roster[member] == nil ? .noSuchMember : .memberAway
        return dropOffers(error) { $0.to == member }
    }

    private mutating func dropOffers(
        _ error: RoomError = .noSuchOffer, where isDropped: (PendingOffer) -> Bool
    ) -> [Action] {
        let dropped = offers.filter(isDropped)
        offers.removeAll(where: isDropped)
        return dropped.map { offer in
            offer.request.map { .reply($0, .refused(error)) } ?? .unanswered(offer.description.offer)
        }
    }
}
