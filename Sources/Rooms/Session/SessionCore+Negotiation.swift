// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Executes the actions of the media negotiation: makes and reads descriptions, adds and removes transports.
extension SessionCore {
    mutating func act(_ action: MediaNegotiation.Action) {
        switch action {
        case .makeOffer(let id, let member, let keepsTransport): makeOffer(id, to: member, keepsTransport)
        case .answer(let id, let sdp, let member): answer(id, sdp, from: member)
        case .apply(let id, let sdp, let member): apply(id, sdp, from: member)
        case .addCandidates(let member): addCandidates(of: member)
        case .closeTransport(let id): closeTransport(of: id)
        case .forget(let id):
            closeTransport(of: id)
            actions.append(.forget(id))
        case .reportRefusal(let member): failNegotiation(member, NegotiationFault.refused)
        case .reportMissingMedia(let member): actions.append(.noMedia(member))
        }
    }

    // MARK: Offers

    private mutating func makeOffer(_ id: OfferID, to member: Member, _ keepsTransport: Bool) {
        if !keepsTransport { closeTransport(of: member.id) }
        let peer = PeerID(member.id)
        do {
            var offer = try media?.offer(to: peer) ?? counted(.withoutMedia(sessionID: sessionID))
            let old = transports[member.id]
            let credentials = old?.credentials ?? .random(using: &generator)
            offer.mediaID = "0"
            offer.bundle = ["0"]
            describe(&offer, credentials, setup: .either, toBrowser: !member.isNative)
            var transport =
                old ?? MemberTransport(port.add(peer, setup(for: member, .controlling, credentials)), credentials)
            transport.offer = (id, offer)
            transports[member.id] = transport
            let text = offer.description
            queue += [
                .host(.offer(SignedDescription(offer: id, sdp: text), to: member.id)),
                .guest(.offer(sdp: text, id, to: member.id)),
            ]
        } catch {
            failNegotiation(member, error)
            negotiate(.offerNotMade(id))
        }
    }

    private mutating func apply(_ id: OfferID, _ sdp: String, from member: Member) {
        guard let offer = transports[member.id]?.offer, offer.id == id else { return }
        transports[member.id]?.offer = nil
        do {
            let answer = try SessionDescription(parsing: sdp)
            guard answer.port != 0 else {
                throw NegotiationFault.nothingInCommon(
                    offered: offer.description.formats.map(\.description), taken: answer.formats.map(\.description))
            }
            let described = try RemoteTransportDescription(answer)
            let role = try DTLSRole(ofOffererOf: .either, answeredBy: described.setup)
                .unwrap(NegotiationFault.noTransport)
            let keepsTransport = transports[member.id]?.isDescribed(by: described) ?? false
            if !keepsTransport { replaceOldTransport(to: member) }
            try media?.accept(answer, from: PeerID(member.id))
            if !keepsTransport { setRemote(described.remote(role, also: member), of: member.id) }
            negotiate(.answerApplied(id, keepsTransport: keepsTransport))
        } catch {
            failNegotiation(member, error)
            negotiate(.answerRejected(id))
        }
    }

    /// Replaces the transport to a member whose answer describes another transport than before.
    private mutating func replaceOldTransport(to member: Member) {
        guard let old = transports[member.id], old.remote != nil else { return }
        port.remove(PeerID(member.id))
        let transportID = port.add(PeerID(member.id), setup(for: member, .controlling, old.credentials))
        transports[member.id] = MemberTransport(transportID, old.credentials)
    }

    // MARK: Answers

    private mutating func answer(_ id: OfferID, _ sdp: String, from member: Member) {
        let peer = PeerID(member.id)
        var keptTransport: MemberTransport?
        do {
            let offer = try SessionDescription(parsing: sdp)
            let described = try RemoteTransportDescription(offer)
            if let transport = transports[member.id], transport.isDescribed(by: described) { keptTransport = transport }
            if keptTransport == nil { closeTransport(of: member.id) }
            let setup = try described.setup.answer(preferring: keptTransport?.remote?.dtlsRole ?? .client)
                .unwrap(NegotiationFault.noTransport)
            let role = try DTLSRole(ofOffererOf: described.setup, answeredBy: setup)
                .unwrap(NegotiationFault.noTransport)
            let credentials = keptTransport?.credentials ?? .random(using: &generator)
            var answer =
                try media?.answer(offer, from: peer) ?? counted(offer.answeredWithoutMedia(sessionID: sessionID))
            describe(&answer, credentials, setup: setup, toBrowser: !member.isNative)
            if keptTransport == nil {
                let transportID = port.add(peer, self.setup(for: member, .controlled, credentials))
                transports[member.id] = MemberTransport(transportID, credentials)
                setRemote(described.remote(role.opposite, also: member), of: member.id)
            } else {
                transports[member.id]?.offer = nil
            }
            reply(answer, to: id)
            negotiate(.offerAnswered(id, keepsTransport: keptTransport != nil))
        } catch {
            if keptTransport == nil {
                closeTransport(of: member.id)
                media?.end(peer)
            }
            if error is NegotiationError { refuse(id, from: peer, endsMedia: keptTransport == nil) } else { end(id) }
            failNegotiation(member, error)
            negotiate(.offerRejected(id, keepsTransport: keptTransport != nil))
        }
    }

    /// Declines an offer with an answer that lists the supported formats and has port 0 (RFC 3264 §6).
    private mutating func refuse(_ id: OfferID, from peer: PeerID, endsMedia: Bool) {
        guard let offer = try? media?.offer(to: peer) else { return }
        if endsMedia { media?.end(peer) }
        reply(
            SessionDescription(
                formats: offer.formats, address: .any, port: 0, sessionID: offer.origin.sessionID, profile: .dtlsSAVPF
            ),
            to: id)
    }

    /// Declines an offer that cannot be answered, by ending its session.
    private mutating func end(_ id: OfferID) {
        guard let me = memberID else { return }
        queue += [.host(.endSession(id, with: id.from)), .guest(.endSession(id, answeredBy: me))]
    }

    private mutating func reply(_ answer: SessionDescription, to id: OfferID) {
        let text = answer.description
        queue += [.host(.answer(SignedDescription(offer: id, sdp: text))), .guest(.answer(sdp: text, id))]
    }

    /// Returns a description with the session's next version (RFC 3264 §8), so that the remote peer recognizes outdated ones.
    private mutating func counted(_ description: SessionDescription) -> SessionDescription {
        lastVersion += 1
        var description = description
        description.origin.version = lastVersion
        return description
    }

    private mutating func failNegotiation(_ member: Member, _ error: any Error) {
        actions.append(.negotiationFailed(member, error))
    }

    // MARK: Transports

    private mutating func closeTransport(of id: MemberID) {
        guard transports.removeValue(forKey: id) != nil else { return }
        port.remove(PeerID(id))
        media?.end(PeerID(id))
    }

    private mutating func setRemote(_ remote: RemoteTransportParameters, of id: MemberID) {
        transports[id]?.remote = remote
        port.setRemote(remote, of: PeerID(id))
    }

    /// Adds a member's addresses to the candidates of the transport to it.
    private mutating func addCandidates(of member: Member) {
        guard transports[member.id]?.add(member.candidates) == true, let remote = transports[member.id]?.remote else {
            return
        }
        port.setRemote(remote, of: PeerID(member.id))
    }

    private func setup(for member: Member, _ role: ICERole, _ credentials: ICECredentials) -> LocalTransportParameters {
        member.isNative
            ? LocalTransportParameters(role: role, credentials: credentials, expectedKey: member.key)
            : LocalTransportParameters(mode: .lite, role: .controlled, credentials: credentials)
    }

    /// Adds the local transport to a description.
    private func describe(
        _ description: inout SessionDescription, _ credentials: ICECredentials, setup: DTLSSetup, toBrowser: Bool
    ) {
        let first = local.addresses.first ?? .loopback
        description.address = first
        description.origin.address = first
        description.port = local.port
        description.ice = SessionDescription.ICE(
            credentials: credentials, candidates: ICECandidate.hosts(local.addresses, port: local.port),
            isLite: toBrowser)
        description.setup = setup
        description.certificateFingerprint = local.identity.certificateFingerprint
    }
}

extension Optional {
    fileprivate func unwrap<Failure: Error>(_ failure: Failure) throws(Failure) -> Wrapped {
        guard let self else { throw failure }
        return self
    }
}
