// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

/// Peers that negotiate through a room, on virtual time: descriptions are delayed, overtake each other and are lost.
final class NegotiationNetwork {
    private(set) var now = HostTime.seconds(100)
    var random: SeededRandom
    private(set) var nodes: [NegotiationNode] = []
    /// The share of messages that are lost.
    var loss = 0.0
    /// The delay to each node in seconds, by index; nil for random ones.
    var latency: [Double]?
    private(set) var faults: [String] = []
    private(set) var offerCount = 0
    var missingMediaCount = 0
    private var roster: Roster
    private var nextMember: UInt64 = 1
    private var counter = 0
    private var heap = EventHeap()
    private var pending: [PendingOffer] = []

    private struct PendingOffer {
        let id: OfferID
        let sdp: String
        let to: MemberID
    }

    /// The seconds that the room holds an offer, as in ``RoomHost``.
    private static let answerTime = RoomHost.Limit.answer

    init(seed: UInt64, count: Int) {
        random = SeededRandom(seed: seed)
        roster = Roster(
            room: RoomID(using: &random), name: name("Studio"), epoch: .first, revision: 1, host: .first, members: [])
        nodes = (0..<count).map { NegotiationNode($0, self, firstOffer: random.next()) }
    }

    func next() -> Int {
        counter += 1
        return counter
    }

    func fault(_ text: String) { faults.append("\(now): \(text)") }

    func after(_ seconds: Double, _ body: @escaping () -> Void) { heap.add(now.advanced(bySeconds: seconds), body) }

    func run(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        while let (time, body) = heap.next(before: end) {
            now = time
            body()
        }
        now = end
    }

    func tick(_ node: NegotiationNode, at time: HostTime) {
        heap.add(max(now, time)) { node.handle(.tick) }
    }

    private func delay() -> Double { 0.001 + random.unit() * (random.below(8) == 0 ? 1.5 : 0.05) }
    private func isLost() -> Bool { random.unit() < loss }
    func node(_ id: MemberID) -> NegotiationNode? { nodes.first { $0.id == id && $0.isRunning } }

    // MARK: The room

    /// A peer in no room joins, or returns to its seat after a restart.
    func join(_ node: NegotiationNode) {
        let id = node.id ?? MemberID(nextMember)!
        if node.id == nil {
            nextMember += 1
            roster.members.append(
                Member(
                    id: id, name: name("Peer \(id)"), key: TestKey(Int(id.number)).fingerprint,
                    addresses: [address(node.index)], port: 47_400))
        }
        node.id = id
        node.isRunning = true
        publish(except: node)
        node.revision = roster.revision
        node.handle(.admitted(roster, as: id))
        for offer in pending where offer.to == id { deliver(offer) }
    }

    func leave(_ node: NegotiationNode) {
        guard let id = node.id, node.isRunning else { return }
        roster.members.removeAll { $0.id == id }
        node.handle(.left)
        node.id = nil
        node.loseTransports()
        failOffers(.noSuchMember) { $0.to == id }
        pending.removeAll { $0.id.from == id }
        publish()
    }

    /// The process ends without a message.
    func crash(_ node: NegotiationNode) {
        node.isRunning = false
        node.loseTransports()
        node.agreed = [:]
        node.core = MediaNegotiation(firstOffer: random.next())
        if let id = node.id { pending.removeAll { $0.id.from == id } }
    }

    func setAway(_ node: NegotiationNode, _ isAway: Bool) {
        guard let index = roster.members.firstIndex(where: { $0.id == node.id }) else { return }
        roster.members[index].isAway = isAway
        if isAway, let id = node.id { failOffers(.memberAway) { $0.to == id } }
        publish()
    }

    private func publish(except newcomer: NegotiationNode? = nil) {
        roster.revision += 1
        let roster = roster
        for node in nodes where node !== newcomer && node.id != nil {
            after(delay()) {
                guard let me = node.id, roster[me] != nil, node.revision < roster.revision else { return }
                node.revision = roster.revision
                node.handle(.rosterChanged(roster, as: me))
            }
        }
    }

    private func failOffers(_ error: RoomError, where isMeant: (PendingOffer) -> Bool) {
        let failed = pending.filter(isMeant)
        pending.removeAll(where: isMeant)
        for offer in failed { notify(.offerFailed(offer.id, error), to: offer.id.from) }
    }

    private func notify(_ event: MediaNegotiation.Event, to id: MemberID) {
        let fixed = node(id).flatMap { latency?[$0.index] }
        after(fixed ?? delay()) { [self] in node(id)?.handle(event) }
    }

    // MARK: Descriptions

    func sendOffer(_ id: OfferID, _ sdp: String, to: MemberID, from: NegotiationNode) {
        offerCount += 1
        guard let member = roster[to], !isLost() else {
            let error: RoomError = roster[to] == nil ? .noSuchMember : .offerUnanswered
            return after(random.unit() * 3) { [self] in notify(.offerFailed(id, error), to: id.from) }
        }
        guard !member.isAway else { return notify(.offerFailed(id, .memberAway), to: id.from) }
        failOffers(.noSuchOffer) { $0.id.from == id.from && $0.to == to }
        let offer = PendingOffer(id: id, sdp: sdp, to: to)
        pending.append(offer)
        if !isLost() { deliver(offer) }
        after(Self.answerTime) { [self] in failOffers(.offerUnanswered) { $0.id == id } }
    }

    private func deliver(_ offer: PendingOffer) { notify(.offerReceived(offer.id, sdp: offer.sdp), to: offer.to) }

    func sendAnswer(_ id: OfferID, _ sdp: String, to: MemberID, from: NegotiationNode) {
        let answerer = from.id
        guard !isLost() else { return }
        after(latency == nil ? delay() : 0) { [self] in
            guard let index = pending.firstIndex(where: { $0.id == id && $0.to == answerer }) else { return }
            pending.remove(at: index)
            let isLost = isLost()
            if let answerer {
                notify(
                    isLost ? .offerFailed(id, .offerUnanswered) : .answerReceived(id, sdp: sdp, by: answerer), to: to)
            }
        }
    }

    func sendEnd(_ id: OfferID, to: MemberID, from: NegotiationNode) {
        if !isLost() { after(latency == nil ? delay() : 0) { [self] in notify(.sessionEnded(id), to: to) } }
    }

    // MARK: Transports

    /// Returns the other end of a node's transport, if they know each other.
    private func opposite(_ transport: NegotiationNode.Transport, of node: NegotiationNode, to id: MemberID)
        -> (NegotiationNode, MemberID, NegotiationNode.Transport)?
    {
        guard let me = node.id, let other = self.node(id), let far = other.transports[me],
            far.local == transport.remote, far.remote == transport.local
        else { return nil }
        return (other, me, far)
    }

    /// Media runs once both ends know each other.
    func connect(_ node: NegotiationNode, _ id: MemberID) {
        guard let transport = node.transports[id], !transport.isOpen,
            let (other, me, far) = opposite(transport, of: node, to: id)
        else { return }
        for (end, member, number) in [(node, id, transport.number), (other, me, far.number)] {
            after(delay()) {
                guard end.transports[member]?.number == number else { return }
                end.transports[member]?.isOpen = true
                end.handle(.transportOpened(member))
            }
        }
    }

    /// The remaining end learns of it.
    func closed(_ transport: NegotiationNode.Transport, of node: NegotiationNode, to id: MemberID) {
        guard let (other, me, far) = opposite(transport, of: node, to: id) else { return }
        after(delay()) { if other.transports[me]?.number == far.number { other.handle(.transportEnded(me)) } }
    }

    /// A node's transport fails.
    func failTransport(of node: NegotiationNode) {
        guard let id = node.transports.keys.sorted().randomElement(using: &random) else { return }
        node.handle(.transportEnded(id))
    }

    // MARK: Invariants

    /// The pairs that do not have the same session, open at both ends and with the current media, without a reason.
    var unsettled: [String] {
        let inside = nodes.filter { $0.id != nil && $0.isRunning }
        return inside.flatMap { a in inside.filter { $0.index > a.index }.compactMap { fault(between: a, $0) } }
    }

    private func fault(between a: NegotiationNode, _ b: NegotiationNode) -> String? {
        guard let idA = a.id, let idB = b.id else { return nil }
        let isCompatible = a.formats & b.formats != 0
        if !isCompatible {
            return a.reasons[idB] != nil || b.reasons[idA] != nil ? nil : "\(idA)-\(idB): refused, and no reason"
        }
        let transport = a.transports[idB]
        let isOpen = transport.flatMap { opposite($0, of: a, to: idB) }.map { $0.2.isOpen && transport?.isOpen == true }
        let sessions = [a.core.session(with: idB), b.core.session(with: idA)]
        let isAgreed =
            a.agreed[idB] == [a.media, b.media] && b.agreed[idA] == [b.media, a.media] && sessions[0] != nil
            && sessions[0] == sessions[1]
        guard isAgreed, isOpen == true else {
            let stages = [a.core.peers[idB]?.stage, b.core.peers[idA]?.stage]
            return "\(idA)-\(idB): \(sessions), media \(a.agreed[idB] ?? []) \(b.agreed[idA] ?? []) of "
                + "\(a.media) \(b.media), open \(String(describing: isOpen)), \(stages)"
        }
        return nil
    }
}
