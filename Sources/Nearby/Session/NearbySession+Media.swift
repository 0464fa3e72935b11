import AudioBase
import MediaTransport
import Rooms

/// Media with each member: offers and answers by the room, packets by the port.
extension NearbySession {
    /// Media follows the roster: who has left is let go of, who has moved is looked for at the new place.
    ///
    /// Whoever comes offers to those that are there; so nothing is to be done for one who is new.
    func followRoster() {
        guard let roster, let me = memberID else { return }
        for id in farSides.keys where roster[id] == nil {
            drop(id)
            transfers?.ended(with: id)
        }
        for member in roster.members where member.id != me {
            if let before = farSides[member.id]?.member {
                farSides[member.id]?.member = member
                if member.addresses != before.addresses || member.port != before.port { addCandidates(of: member) }
                if before.isAway, !member.isAway, case .idle = farSides[member.id]?.stage {
                    farSides[member.id]?.nextOffer = .now()
                }
            } else {
                farSides[member.id] = FarSide(member)
                farSides[member.id]?.stage = .waiting
                // Who should have offered may have lost its way with that.
                if Roster.offerer(between: me, and: member.id) == me { makeOffer(to: member) }
            }
        }
        lookAfterMedia(at: .now())
    }

    /// All media ends: this session is no longer in the room.
    func endMedia() {
        for id in farSides.keys { drop(id) }
    }

    private func drop(_ id: MemberID) {
        guard let far = farSides.removeValue(forKey: id) else { return }
        close(far)
    }

    /// Nothing is sent to it any more, or taken of it.
    private func close(_ far: FarSide) {
        guard far.way != nil else { return }
        mediaPort.remove(PeerID(far.member.id))
        media?.end(PeerID(far.member.id))
    }

    // MARK: Offers

    /// Offers media to a member, anew where there was some.
    func makeOffer(to member: Member) {
        var far = farSides[member.id] ?? FarSide(member)
        far.member = member
        far.nextOffer = nil
        close(far)
        far.way = nil
        let credentials = ICECredentials.random(using: &generator)
        let peer = PeerID(member.id)
        do {
            var offer = try media?.offer(to: peer) ?? .withoutMedia()
            offer.mediaID = "0"
            offer.bundle = ["0"]
            describe(&offer, credentials, setup: .either, toBrowser: !member.isNative)
            let isSent = send(offer, to: member.id) { id in
                // Before anything can come of it.
                far.stage = .offering(id, offer)
                far.offer = id
                far.way = mediaPort.add(peer, setup(for: member, .controlling, credentials))
                farSides[member.id] = far
            }
            if !isSent {
                far.retry(at: .now())
                farSides[member.id] = far
            }
        } catch {
            farSides[member.id] = far
            disagree(member, error)
        }
    }

    /// - Parameter begin: gets the offer's name before it goes out.
    /// - Returns: whether it does.
    private func send(_ offer: SessionDescription, to member: MemberID, begin: (OfferID) -> Void) -> Bool {
        let text = offer.description
        var isSent = false
        switch role {
        case .none: break
        case .host(let host):
            let id = OfferID(from: host.member.id, number: UInt64.random(in: 1..<1 << 52, using: &generator))
            begin(id)
            isSent = true
            withHost { $0.offer(SignedDescription(offer: id, sdp: text), to: member, at: .now()) }
        case .guest:
            withGuest { guest in
                guard let (id, actions) = guest.offer(text, to: member, at: .now()) else { return [] }
                begin(id)
                isSent = true
                return actions
            }
        }
        return isSent
    }

    /// A member offers media.
    func takeOffer(_ id: OfferID, _ sdp: String, in roster: Roster) {
        guard let member = roster[id.from], let me = memberID else { return }
        // Both at once: who joined later has its way, and the other's offer is left to end.
        if case .offering = farSides[id.from]?.stage, Roster.offerer(between: me, and: id.from) == me { return }
        if let far = farSides[id.from] { close(far) }
        var far = FarSide(member)
        let peer = PeerID(id.from)
        do {
            let offer = try SessionDescription(parsing: sdp)
            let said = try DescribedWay(offer)
            let setup = try said.setup.answer().unwrap(NegotiationFault.noTransport)
            let role = try DTLSRole(ofOffererOf: said.setup, answeredBy: setup).unwrap(NegotiationFault.noTransport)
            let credentials = ICECredentials.random(using: &generator)
            var answer = try media?.answer(offer, from: peer) ?? offer.answeredWithoutMedia()
            describe(&answer, credentials, setup: setup, toBrowser: !member.isNative)
            let remote = said.remote(role.opposite, also: member)
            far.way = mediaPort.add(peer, self.setup(for: member, .controlled, credentials))
            mediaPort.setRemote(remote, of: peer)
            far.stage = .agreed
            far.offer = id
            far.remote = remote
            far.missingSince = .now()
            farSides[id.from] = far
            reply(answer, to: id)
        } catch {
            far.stage = .waiting
            farSides[id.from] = far
            media?.end(peer)
            if error is NegotiationError { refuse(id, from: peer) } else { end(id, answeredBy: me) }
            disagree(member, error)
        }
        schedule()
    }

    /// Says that nothing comes of an offer, and what this side would take: the stream has port 0 (RFC 3264 §6).
    private func refuse(_ id: OfferID, from peer: PeerID) {
        guard let wanted = try? media?.offer(to: peer) else { return }
        media?.end(peer)
        reply(
            SessionDescription(
                formats: wanted.formats, address: .any, port: 0, sessionID: wanted.origin.sessionID, profile: .dtlsSAVPF
            ),
            to: id)
    }

    /// Says that nothing comes of an offer, where there is nothing to answer.
    private func end(_ id: OfferID, answeredBy me: MemberID) {
        withHost { $0.endSession(id, with: id.from, at: .now()) }
        withGuest { $0.endSession(id, answeredBy: me, at: .now()) }
    }

    private func reply(_ answer: SessionDescription, to id: OfferID) {
        let text = answer.description
        withHost { $0.answer(SignedDescription(offer: id, sdp: text), at: .now()) }
        withGuest { $0.answer(text, to: id, at: .now()) }
    }

    /// A member has answered our offer.
    func takeAnswer(_ id: OfferID, _ sdp: String, by member: MemberID) {
        guard var far = farSides[member], case .offering(id, let offer) = far.stage else { return }
        do {
            let answer = try SessionDescription(parsing: sdp)
            guard answer.port != 0 else {
                throw NegotiationFault.nothingInCommon(
                    offered: offer.formats.map(\.description), taken: answer.formats.map(\.description))
            }
            let said = try DescribedWay(answer)
            let role = try DTLSRole(ofOffererOf: .either, answeredBy: said.setup).unwrap(NegotiationFault.noTransport)
            try media?.accept(answer, from: PeerID(member))
            let remote = said.remote(role, also: far.member)
            mediaPort.setRemote(remote, of: PeerID(member))
            far.remote = remote
            far.stage = .agreed
            far.missingSince = .now()
            farSides[member] = far
        } catch {
            far.retry(at: .now())
            farSides[member] = far
            disagree(far.member, error)
        }
        schedule()
    }

    /// An offer of ours came to nothing.
    func offerFailed(_ id: OfferID, _ error: RoomError) {
        guard let (member, far) = farSides.first(where: { $0.value.offer == id }), case .offering = far.stage else {
            return
        }
        farSides[member]?.retry(at: .now())
        // Whoever is away is offered to when it is back. (With the host gone all offers end so, also those to who is there.)
        if case .memberAway = error, far.member.isAway { farSides[member]?.nextOffer = nil }
        schedule()
    }

    /// The other side has ended it, or does not want it.
    func sessionEnded(_ id: OfferID) {
        guard let (member, far) = farSides.first(where: { $0.value.offer == id }) else { return }
        close(far)
        if case .offering = far.stage { disagree(far.member, NegotiationFault.refused) }
        farSides[member]?.way = nil
        farSides[member]?.stage = .waiting
        farSides[member]?.missingSince = nil
    }

    private func disagree(_ member: Member, _ error: any Error) { news.yield(.disagreed(member, "\(error)")) }

    /// A member may be reached elsewhere now.
    private func addCandidates(of member: Member) {
        guard var remote = farSides[member.id]?.remote else { return }
        let known = remote.candidates.map(\.address)
        remote.candidates += member.candidates.filter { !known.contains($0.address) }
        guard remote.candidates.count != known.count else { return }
        remote.candidates = Array(remote.candidates.suffix(2 * Member.maximumAddressCount))
        farSides[member.id]?.remote = remote
        mediaPort.setRemote(remote, of: PeerID(member.id))
    }

    private func setup(for member: Member, _ role: ICEAgent.Role, _ credentials: ICECredentials) -> TransportSetup {
        member.isNative
            ? TransportSetup(role: role, credentials: credentials, expectedKey: member.key)
            : TransportSetup(mode: .lite, role: .controlled, credentials: credentials)
    }

    /// Adds how this side is reached.
    private func describe(
        _ description: inout SessionDescription, _ credentials: ICECredentials, setup: DTLSSetup, toBrowser: Bool
    ) {
        let first = addresses.first ?? .loopback
        description.address = first
        description.origin.address = first
        description.port = port
        description.ice = SessionDescription.ICE(
            credentials: credentials, candidates: ICECandidate.hosts(addresses, port: port), isLite: toBrowser)
        description.setup = setup
        description.certificateFingerprint = identity.certificateFingerprint
    }

    // MARK: The port

    func take(_ event: MediaPortEvent) {
        switch event {
        case .state(let peer, let state, let way):
            // What an earlier way came to says nothing of this one.
            if let far = farSide(peer), far.way == way { transportChanged(far, state) }
        case .addresses(let now):
            let new = now.map(\.address)
            guard new != addresses else { return }
            addresses = new
            // What is kept open may come from an address that is gone, and nobody would say so.
            for client in clients.values { client.http.close() }
            clients = [:]
            tell(MemberUpdate(addresses: new))
            followHost()
        }
    }

    func takeDatagram(_ bytes: [UInt8], from peer: PeerID) {
        guard let far = farSide(peer) else { return }
        datagramNews.yield(NearbyDatagram(sender: far.member.id, bytes: bytes))
    }

    private func transportChanged(_ far: FarSide, _ state: TransportState) {
        let id = far.member.id
        news.yield(.transport(far.member, state))
        switch state {
        case .open:
            farSides[id]?.missingSince = nil
            farSides[id]?.delay = FarSide.delays.lowerBound
        case .closed, .failed:
            // Anew, by whoever is to offer; the other side learns of it by the offer.
            close(far)
            farSides[id]?.way = nil
            farSides[id]?.stage = .waiting
            farSides[id]?.missingSince = nil
            if let me = memberID, Roster.offerer(between: me, and: id) == me { farSides[id]?.retry(at: .now()) }
        case .connecting, .securing, .silent, .suspended: break
        }
        if state.carriesMedia { followHost() }
        schedule()
    }

    private func farSide(_ peer: PeerID) -> FarSide? { farSides.values.first { PeerID($0.member.id) == peer } }

    /// Media finds the way to a host that has moved before its signalling does.
    func followHost() {
        guard case .guest(let guest) = role, let roster = guest.roster, let host = roster[roster.host],
            let key = host.key,
            let report = mediaPort.report(of: PeerID(host.id)), case .open = report.state, let pair = report.pair
        else { return }
        withGuest { $0.located(key, at: SocketAddress(pair.remote.address, port: host.port), time: .now()) }
    }

    /// A page is heard of by its media: where it has nothing to tell it asks for nothing. (A native member's media may reach us
    /// when its signalling does not; then it goes on in another part of the room, and is away from this one.)
    func hearBrowsers() {
        for far in farSides.values where !far.member.isNative {
            guard let report = mediaPort.report(of: PeerID(far.member.id)), case .open = report.state else { continue }
            withHost { $0.heard(far.member.id, at: .now()) }
        }
    }

    /// Makes the offers that are due, and says what does not come.
    func lookAfterMedia(at now: HostTime) {
        for (id, far) in farSides {
            if let due = far.nextOffer, due <= now {
                farSides[id]?.nextOffer = nil
                if case .idle = far.stage, let member = roster?[id] { makeOffer(to: member) }
            }
            if let since = far.missingSince, now.seconds(since: since) >= FarSide.patience {
                farSides[id]?.missingSince = nil
                news.yield(.noMedia(far.member))
            }
        }
    }
}

extension Optional {
    fileprivate func unwrap<Failure: Error>(_ failure: Failure) throws(Failure) -> Wrapped {
        guard let self else { throw failure }
        return self
    }
}
