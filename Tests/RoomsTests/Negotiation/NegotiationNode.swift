// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

@testable import EarshotRooms

/// A peer of a ``NegotiationNetwork``: a negotiation, and the code that executes its actions.
final class NegotiationNode {
    /// The contents of a description. All but the origin is in the name of the SDP.
    struct Description {
        var credential: Int
        var media: Int
        /// A bit for each format.
        var formats: Int
        var isRefusal = false
        let origin: Origin

        init(_ credential: Int, _ node: NegotiationNode, _ origin: Origin) {
            (self.credential, media, formats) = (credential, node.media, node.formats)
            self.origin = origin
        }

        init?(_ text: String) {
            guard let description = try? SessionDescription(parsing: text) else { return nil }
            let numbers = description.name.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 4 else { return nil }
            (credential, media, formats, isRefusal) = (numbers[0], numbers[1], numbers[2], numbers[3] == 1)
            origin = Origin(session: Int(description.origin.sessionID), version: Int(description.origin.version))
        }

        var text: String {
            var description = SessionDescription.offer(
                formats: [.opus()], address: .any, port: 9, sessionID: UInt64(origin.session))
            description.origin.version = UInt64(origin.version)
            description.name = "\(credential) \(media) \(formats) \(isRefusal ? 1 : 0)"
            return description.description
        }
    }

    /// The `o=` line of the descriptions for a member, as `CallSession` counts it.
    struct Origin: Equatable {
        let session: Int
        var version = 0
    }

    struct Transport {
        let number: Int
        let local: Int
        var remote: Int?
        var isOpen = false
        var pending: OfferID?
    }

    let index: Int
    unowned let network: NegotiationNetwork
    var core: MediaNegotiation
    var id: MemberID?
    var isRunning = true
    /// Counts the changes of its media.
    var media = 0
    var formats = 0b11
    /// True if the node ends an offer that it cannot accept, instead of refusing it by an answer.
    var endsOffers = false
    var transports: [MemberID: Transport] = [:]
    private var origins: [MemberID: Origin] = [:]
    /// The media of both sides as last negotiated, its own first.
    var agreed: [MemberID: [Int]] = [:]
    var reasons: [MemberID: String] = [:]
    var revision: UInt64 = 0
    private var queue: [MediaNegotiation.Event] = []
    private var isHandling = false

    init(_ index: Int, _ network: NegotiationNetwork, firstOffer: UInt64) {
        self.index = index
        self.network = network
        core = MediaNegotiation(firstOffer: firstOffer)
    }

    func handle(_ event: MediaNegotiation.Event) {
        guard isRunning else { return }
        queue.append(event)
        guard !isHandling else { return }
        isHandling = true
        while !queue.isEmpty {
            for action in core.handle(queue.removeFirst(), at: network.now) { perform(action) }
        }
        isHandling = false
        if let due = core.nextDeadline { network.tick(self, at: due) }
    }

    private func perform(_ action: MediaNegotiation.Action) {
        switch action {
        case .makeOffer(let offer, let member, let keepsTransport): makeOffer(offer, member.id, keepsTransport)
        case .answer(let offer, let sdp, let member): answer(offer, Description(sdp), member.id)
        case .apply(let offer, let sdp, let member): apply(offer, Description(sdp), member.id)
        case .addCandidates: break
        case .closeTransport(let member): close(member)
        case .forget(let member):
            close(member)
            reasons[member] = nil
        case .reportRefusal(let member): reasons[member.id] = "refused"
        case .reportMissingMedia: network.missingMediaCount += 1
        }
    }

    private func makeOffer(_ offer: OfferID, _ member: MemberID, _ keepsTransport: Bool) {
        if !keepsTransport { close(member) }
        var transport = transports[member] ?? Transport(number: network.next(), local: network.next())
        transport.pending = offer
        transports[member] = transport
        network.sendOffer(offer, describe(transport.local, to: member).text, to: member, from: self)
    }

    private func answer(_ offer: OfferID, _ description: Description?, _ member: MemberID) {
        guard let description else { return network.fault("no description in \(offer)") }
        let isKept = transports[member]?.remote == description.credential
        if !isKept { close(member) }
        guard description.formats & formats != 0 else {
            reasons[member] = "no common format"
            var refusal = describe(0, to: member)
            refusal.isRefusal = true
            if endsOffers {
                network.sendEnd(offer, to: member, from: self)
            } else {
                network.sendAnswer(offer, refusal.text, to: member, from: self)
            }
            return handle(.offerRejected(offer, keepsTransport: isKept))
        }
        var transport = transports[member] ?? Transport(number: network.next(), local: network.next())
        transport.remote = description.credential
        transport.pending = nil
        transports[member] = transport
        agree(description, member)
        network.sendAnswer(offer, describe(transport.local, to: member).text, to: member, from: self)
        handle(.offerAnswered(offer, keepsTransport: isKept))
    }

    private func apply(_ offer: OfferID, _ description: Description?, _ member: MemberID) {
        guard let description, let old = transports[member], old.pending == offer else {
            return network.fault("an answer to \(offer) that is not pending")
        }
        transports[member]?.pending = nil
        guard !description.isRefusal else {
            reasons[member] = "no common format"
            return handle(.answerRejected(offer))
        }
        let isKept = old.remote == description.credential
        if !isKept, old.remote != nil {
            let origin = origins[member]
            close(member)
            origins[member] = origin
            transports[member] = Transport(number: network.next(), local: old.local)
        }
        transports[member]?.remote = description.credential
        agree(description, member)
        handle(.answerApplied(offer, keepsTransport: isKept))
    }

    private func describe(_ credential: Int, to member: MemberID) -> Description {
        var origin = origins[member] ?? Origin(session: network.next())
        origin.version += 1
        origins[member] = origin
        return Description(credential, self, origin)
    }

    private func agree(_ description: Description, _ member: MemberID) {
        reasons[member] = nil
        agreed[member] = [media, description.media]
        network.connect(self, member)
    }

    /// Loses all transports without a message.
    func loseTransports() { (transports, origins) = ([:], [:]) }

    func close(_ member: MemberID) {
        guard let old = transports.removeValue(forKey: member) else { return }
        agreed[member] = nil
        origins[member] = nil
        network.closed(old, of: self, to: member)
    }
}
