import AudioBase
import MediaTransport

@testable import Rooms

/// A peer of a ``NegotiationNetwork``: a negotiation, and what executes its actions.
final class NegotiationNode {
    /// The contents of a description.
    struct Description {
        var credential: Int
        var media: Int
        /// A bit for each format.
        var formats: Int
        var isRefusal = false

        init(_ credential: Int, _ node: NegotiationNode) {
            (self.credential, media, formats) = (credential, node.media, node.formats)
        }

        init?(_ text: String) {
            let numbers = text.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 4 else { return nil }
            (credential, media, formats, isRefusal) = (numbers[0], numbers[1], numbers[2], numbers[3] == 1)
        }

        var text: String { "\(credential) \(media) \(formats) \(isRefusal ? 1 : 0)" }
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
    /// The media of both sides as it was negotiated last, its own first.
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
        network.sendOffer(offer, Description(transport.local, self).text, to: member, from: self)
    }

    private func answer(_ offer: OfferID, _ description: Description?, _ member: MemberID) {
        guard let description else { return network.fault("no description in \(offer)") }
        let isKept = transports[member]?.remote == description.credential
        if !isKept { close(member) }
        guard description.formats & formats != 0 else {
            reasons[member] = "no common format"
            var refusal = Description(0, self)
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
        network.sendAnswer(offer, Description(transport.local, self).text, to: member, from: self)
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
            close(member)
            transports[member] = Transport(number: network.next(), local: old.local)
        }
        transports[member]?.remote = description.credential
        agree(description, member)
        handle(.answerApplied(offer, keepsTransport: isKept))
    }

    private func agree(_ description: Description, _ member: MemberID) {
        reasons[member] = nil
        agreed[member] = [media, description.media]
        network.connect(self, member)
    }

    func close(_ member: MemberID) {
        guard let old = transports.removeValue(forKey: member) else { return }
        agreed[member] = nil
        network.closed(old, of: self, to: member)
    }
}
