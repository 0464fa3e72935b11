import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// What the room's cores say is done here, in their order.
extension NearbySession {
    func act(_ action: RoomHost.Action, _ roster: Roster) {
        switch action {
        case .reply(let id, let reply): answer(id, reply)
        case .send(let bytes, let id): feeds[id]?.send(bytes)
        case .end(let id): feeds[id]?.finish()
        case .question(let id, let question): news.yield(.question(id, question))
        case .withdraw(let id, let reason): news.yield(.withdrawn(id, reason))
        case .offered(let description): negotiate(.offerReceived(description.offer, sdp: description.sdp))
        case .answered(let description, let member):
            negotiate(.answerReceived(description.offer, sdp: description.sdp, by: member))
        case .unanswered(let offer): negotiate(.offerFailed(offer, .offerUnanswered))
        case .ended(let offer): negotiate(.sessionEnded(offer))
        case .probe(let endpoint): Task { [weak self] in await self?.look(at: endpoint) }
        case .becomeGuest(let endpoint):
            stopDiscovery()
            begin(makeGuest(knowing: knownPeers), at: endpoint)
        case .note(let key, let name, let isAccepted):
            remember { $0.note(key, as: name, isAccepted: isAccepted, date: NearbyStore.now) }
        case .block(let key, let name): remember { $0.block(key, as: name, date: NearbyStore.now) }
        case .tell(.changed(let changes)): news.yield(.changed(changes, roster))
        case .tell(.refused(let error, let guest)): news.yield(.refused(error, guest: guest))
        case .tell(.split(let info)): news.yield(.split(info))
        case .tell(.closed): news.yield(.ended(.left))
        }
    }

    func act(_ action: RoomGuest.Action, _ roster: Roster?) {
        switch action {
        case .call(let id, let request, let endpoint): call(id, request, endpoint)
        case .cancel(let id): calls.removeValue(forKey: id)?.cancel()
        case .reply(let id, let reply): answer(id, reply)
        case .needPIN(let room, let host): findPINKey(room, host)
        case .note(let key, let name):
            remember { $0.note(key, as: name, isAccepted: true, date: NearbyStore.now) }
        case .becomeHost(let succession): becomeHost(succession)
        case .tell(let news): tell(news, roster)
        }
    }

    private func tell(_ happened: RoomGuest.News, _ roster: Roster?) {
        switch happened {
        case .asking(let info): news.yield(.asking(info))
        case .admitted(let roster, let me):
            beginTransfers()
            prepareToHost(roster)
            news.yield(.joined(roster, as: me))
            lookForParts()
            negotiate(.admitted(roster, as: me))
        case .changed(let changes): if let roster { news.yield(.changed(changes, roster)) }
        case .offered(let offer, let sdp, _): negotiate(.offerReceived(offer, sdp: sdp))
        case .answered(let offer, let sdp, let member): negotiate(.answerReceived(offer, sdp: sdp, by: member.id))
        case .unanswered(let offer, let error): negotiate(.offerFailed(offer, error))
        case .ended(let offer): negotiate(.sessionEnded(offer))
        case .forged(let member): news.yield(.forged(member))
        case .reconnecting: news.yield(.reconnecting)
        case .reconnected: news.yield(.reconnected)
        case .handedOver(let member): news.yield(.handedOver(to: member))
        case .askingAgain(let member): news.yield(.askingAgain(member))
        case .split(let info): news.yield(.split(info))
        case .over: break  // told when all it ends has ended
        }
    }

    /// Tells the others of this member, whatever it is.
    func tell(_ update: MemberUpdate) {
        handle([.host(.update(update)), .guest(.update(update))])
    }

    // MARK: One's part in the room

    func begin(_ guest: RoomGuest, at endpoint: Endpoint) {
        role = .guest(guest)
        tellGuest(.join(endpoint))
    }

    /// The key that proves the PIN to this host.
    func findPINKey(_ room: RoomID, _ host: KeyFingerprint) {
        guard let pin else {
            pinWanted = (room, host)
            news.yield(.pinNeeded)
            return
        }
        pinWanted = nil
        Task { [weak self] in
            guard let key = await Self.key(of: pin, room: room, host: host) else { return }
            await self?.tellGuest(.pinKeyDerived(key))
        }
    }

    /// Who may have to take over has the PIN's key ready: that moment is no time to compute one.
    private func prepareToHost(_ roster: Roster) {
        ownPINKey = nil
        guard let pin else { return }
        Task { [weak self, fingerprint] in
            let key = await Self.key(of: pin, room: roster.room, host: fingerprint)
            await self?.keep(key)
        }
    }

    private func keep(_ key: PINKey?) { ownPINKey = key }

    private func becomeHost(_ succession: Succession) {
        let pin = ownPINKey.flatMap { $0.room == succession.roster.room ? $0 : nil }
        var configuration = hostConfiguration(pin)
        // A room with a PIN stays shut where its key is not known here.
        if succession.needsPIN, pin == nil { configuration.policy = .ask }
        let host = RoomHost(
            succeeding: succession, secret: randomBytes(32), configuration: configuration, knownPeers: knownPeers,
            at: eventTime)
        role = .host(host)
        isAdvertised = succession.roster.isAnnounced
        news.yield(.becameHost(host.roster))
        advertise()
        followRoster()
    }

    /// Whom the core knows that is at work; who is blocked stays so where the file cannot be written.
    private var knownPeers: KnownPeers {
        switch role {
        case .none: KnownPeers()
        case .host(let host): host.knownPeers
        case .guest(let guest): guest.knownPeers
        }
    }

    /// Here at once, in the file by and by.
    private func remember(_ change: @escaping @Sendable (inout KnownPeers) -> Void) {
        var peers = knownPeers
        change(&peers)
        know(peers)
        store.later { [news] store in
            do throws(NearbyStoreError) {
                try store.update(change)
            } catch {
                news.yield(.store(error))
            }
        }
    }

    /// What `earshot peers` has changed meanwhile counts for whoever asks to be let in.
    func reviewKnownPeers() async {
        guard case .host = role else { return }
        let version = knownPeersVersion
        guard
            let (peers, now) = try? await store.elsewhere({ (store) throws(NearbyStoreError) in
                try store.knownPeers(unless: version)
            })
        else { return }
        knownPeersVersion = now
        know(peers)
    }

    private func know(_ peers: KnownPeers) {
        switch role {
        case .none: break
        case .host(var host):
            role = .none
            host.knownPeers = peers
            role = .host(host)
        case .guest(var guest):
            role = .none
            guest.knownPeers = peers
            role = .guest(guest)
        }
    }
}
