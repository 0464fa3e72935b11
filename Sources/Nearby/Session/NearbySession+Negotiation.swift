import EarshotMediaTransport
import EarshotRooms

/// Executes the actions of the media negotiation: makes and reads descriptions, adds and removes transports.
extension NearbySession {
    /// Offers a member the local peer's media as it is now, after `Configuration.media` has changed what it offers.
    ///
    /// The running session goes on until the answer, and its transport stays: ICE and DTLS do not begin anew. While an
    /// offer to or from the member is pending, another offer follows it. Does nothing if there is no such member. Returns before
    /// the answer; an answer that cannot be used is told by ``NearbyEvent/disagreed(_:_:)``.
    public func renegotiate(_ member: MemberID) { negotiate(.renegotiate(member)) }

    func act(_ action: MediaNegotiation.Action) {
        switch action {
        case .makeOffer(let id, let member, let keepsTransport): makeOffer(id, to: member, keepsTransport)
        case .answer(let id, let sdp, let member): answer(id, sdp, from: member)
        case .apply(let id, let sdp, let member): apply(id, sdp, from: member)
        case .addCandidates(let member): addCandidates(of: member)
        case .closeTransport(let id): closeTransport(of: id)
        case .forget(let id):
            closeTransport(of: id)
            transfers?.ended(with: id)
        case .reportRefusal(let member): disagree(member, NegotiationFault.refused)
        case .reportMissingMedia(let member): news.yield(.noMedia(member))
        }
    }

    // MARK: Offers

    private func makeOffer(_ id: OfferID, to member: Member, _ keepsTransport: Bool) {
        if !keepsTransport { closeTransport(of: member.id) }
        let peer = PeerID(member.id)
        do {
            var offer = try media?.offer(to: peer) ?? .withoutMedia()
            let old = transports[member.id]
            let credentials = old?.credentials ?? .random(using: &generator)
            offer.mediaID = "0"
            offer.bundle = ["0"]
            describe(&offer, credentials, setup: .either, toBrowser: !member.isNative)
            var transport =
                old ?? MemberTransport(mediaPort.add(peer, setup(for: member, .controlling, credentials)), credentials)
            transport.offer = (id, offer)
            transports[member.id] = transport
            let text = offer.description
            handle([
                .host(.offer(SignedDescription(offer: id, sdp: text), to: member.id)),
                .guest(.offer(sdp: text, id, to: member.id)),
            ])
        } catch {
            disagree(member, error)
            negotiate(.offerNotMade(id))
        }
    }

    private func apply(_ id: OfferID, _ sdp: String, from member: Member) {
        guard let offer = transports[member.id]?.offer, offer.id == id else { return }
        transports[member.id]?.offer = nil
        do {
            let answer = try SessionDescription(parsing: sdp)
            guard answer.port != 0 else {
                throw NegotiationFault.nothingInCommon(
                    offered: offer.description.formats.map(\.description), taken: answer.formats.map(\.description))
            }
            let described = try DescribedWay(answer)
            let role = try DTLSRole(ofOffererOf: .either, answeredBy: described.setup)
                .unwrap(NegotiationFault.noTransport)
            let keepsTransport = transports[member.id]?.isDescribed(by: described) ?? false
            if !keepsTransport { replaceOldTransport(to: member) }
            try media?.accept(answer, from: PeerID(member.id))
            if !keepsTransport { setRemote(described.remote(role, also: member), of: member.id) }
            negotiate(.answerApplied(id, keepsTransport: keepsTransport))
        } catch {
            disagree(member, error)
            negotiate(.answerRejected(id))
        }
    }

    /// A remote peer that answers with another transport has left the one in use.
    private func replaceOldTransport(to member: Member) {
        guard let old = transports[member.id], old.remote != nil else { return }
        mediaPort.remove(PeerID(member.id))
        let way = mediaPort.add(PeerID(member.id), setup(for: member, .controlling, old.credentials))
        transports[member.id] = MemberTransport(way, old.credentials)
    }

    // MARK: Answers

    private func answer(_ id: OfferID, _ sdp: String, from member: Member) {
        let peer = PeerID(member.id)
        var kept: MemberTransport?
        do {
            let offer = try SessionDescription(parsing: sdp)
            let described = try DescribedWay(offer)
            if let transport = transports[member.id], transport.isDescribed(by: described) { kept = transport }
            if kept == nil { closeTransport(of: member.id) }
            let setup = try described.setup.answer(preferring: kept?.remote?.dtlsRole ?? .client)
                .unwrap(NegotiationFault.noTransport)
            let role = try DTLSRole(ofOffererOf: described.setup, answeredBy: setup)
                .unwrap(NegotiationFault.noTransport)
            let credentials = kept?.credentials ?? .random(using: &generator)
            var answer = try media?.answer(offer, from: peer) ?? offer.answeredWithoutMedia()
            describe(&answer, credentials, setup: setup, toBrowser: !member.isNative)
            if kept == nil {
                let way = mediaPort.add(peer, self.setup(for: member, .controlled, credentials))
                transports[member.id] = MemberTransport(way, credentials)
                setRemote(described.remote(role.opposite, also: member), of: member.id)
            } else {
                transports[member.id]?.offer = nil
            }
            reply(answer, to: id)
            negotiate(.offerAnswered(id, keepsTransport: kept != nil))
        } catch {
            if kept == nil {
                closeTransport(of: member.id)
                media?.end(peer)
            }
            if error is NegotiationError { refuse(id, from: peer, endsMedia: kept == nil) } else { end(id) }
            disagree(member, error)
            negotiate(.offerRejected(id, keepsTransport: kept != nil))
        }
    }

    /// Declines an offer, and says what this side would take: the stream has port 0 (RFC 3264 §6).
    private func refuse(_ id: OfferID, from peer: PeerID, endsMedia: Bool) {
        guard let wanted = try? media?.offer(to: peer) else { return }
        if endsMedia { media?.end(peer) }
        reply(
            SessionDescription(
                formats: wanted.formats, address: .any, port: 0, sessionID: wanted.origin.sessionID, profile: .dtlsSAVPF
            ),
            to: id)
    }

    /// Declines an offer that cannot be answered.
    private func end(_ id: OfferID) {
        guard let me = memberID else { return }
        handle([
            .host(.endSession(id, with: id.from)), .guest(.endSession(id, answeredBy: me)),
        ])
    }

    private func reply(_ answer: SessionDescription, to id: OfferID) {
        let text = answer.description
        handle([
            .host(.answer(SignedDescription(offer: id, sdp: text))),
            .guest(.answer(sdp: text, id)),
        ])
    }

    private func disagree(_ member: Member, _ error: any Error) { news.yield(.disagreed(member, error)) }

    // MARK: Transports

    private func closeTransport(of id: MemberID) {
        guard transports.removeValue(forKey: id) != nil else { return }
        mediaPort.remove(PeerID(id))
        media?.end(PeerID(id))
    }

    private func setRemote(_ remote: TransportRemote, of id: MemberID) {
        transports[id]?.remote = remote
        mediaPort.setRemote(remote, of: PeerID(id))
    }

    /// The member may be reached elsewhere now.
    private func addCandidates(of member: Member) {
        guard transports[member.id]?.add(member.candidates) == true, let remote = transports[member.id]?.remote else {
            return
        }
        mediaPort.setRemote(remote, of: PeerID(member.id))
    }

    private func setup(for member: Member, _ role: ICERole, _ credentials: ICECredentials) -> TransportSetup {
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
}

extension Optional {
    fileprivate func unwrap<Failure: Error>(_ failure: Failure) throws(Failure) -> Wrapped {
        guard let self else { throw failure }
        return self
    }
}
