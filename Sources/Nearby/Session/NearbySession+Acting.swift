// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// Executes the actions of the session's core.
extension NearbySession {
    func execute(_ action: SessionCore.Action) {
        switch action {
        case .reply(let id, let reply): answer(id, reply)
        case .send(let bytes, let id): incoming.feeds[id]?.send(bytes)
        case .end(let id): incoming.feeds[id]?.finish()
        case .call(let id, let request, let endpoint): call(id, request, endpoint)
        case .cancel(let id): outgoing.calls.removeValue(forKey: id)?.cancel()
        case .probe(let endpoint): Task { [weak self] in await self?.probe(endpoint) }
        case .needPIN(let room, let host): findPINKey(room, host)
        case .entered(let roster, let me):
            beginTransfers()
            prepareToHost(roster)
            eventContinuation.yield(.joined(roster, as: me))
            lookForParts()
        case .becameHost(let roster):
            eventContinuation.yield(.becameHost(roster))
            advertise()
        case .becomesGuest: discovery.stop()
        case .announce: announce()
        case .forget(let id): transfers?.ended(with: id)
        case .left:
            endTransfers()
            discovery.stop()
        case .note(let key, let name, let isAccepted):
            remember { $0.note(key, as: name, isAccepted: isAccepted, date: NearbyStore.now) }
        case .block(let key, let name): remember { $0.block(key, as: name, date: NearbyStore.now) }
        case .question(let id, let question): eventContinuation.yield(.question(id, question))
        case .withdraw(let id, let reason): eventContinuation.yield(.withdrawn(id, reason))
        case .hostNotification(let notification, let roster): notify(notification, roster)
        case .guestNotification(let notification, let roster): notify(notification, roster)
        case .transport(let member, let state): eventContinuation.yield(.transport(member, state))
        case .noMedia(let member): eventContinuation.yield(.noMedia(member))
        case .negotiationFailed(let member, let error): eventContinuation.yield(.negotiationFailed(member, error))
        case .ended(let ending): eventContinuation.yield(.ended(ending))
        }
    }

    private func notify(_ notification: RoomHost.Notification, _ roster: Roster) {
        switch notification {
        case .changed(let changes): eventContinuation.yield(.changed(changes, roster))
        case .refused(let error, let guest): eventContinuation.yield(.refused(error, guest: guest))
        case .split(let info): eventContinuation.yield(.split(info))
        case .closed: eventContinuation.yield(.ended(.left))
        }
    }

    private func notify(_ notification: RoomGuest.Notification, _ roster: Roster?) {
        switch notification {
        case .asking(let info): eventContinuation.yield(.asking(info))
        case .changed(let changes): if let roster { eventContinuation.yield(.changed(changes, roster)) }
        case .forged(let member): eventContinuation.yield(.forged(member))
        case .reconnecting:
            eventContinuation.yield(.reconnecting)
            lookForHost()
        case .reconnected: eventContinuation.yield(.reconnected)
        case .handedOver(let member): eventContinuation.yield(.handedOver(to: member))
        case .askingAgain(let member): eventContinuation.yield(.askingAgain(member))
        case .split(let info): eventContinuation.yield(.split(info))
        // The core handles these itself.
        case .admitted, .offered, .answered, .unanswered, .ended, .over: break
        }
    }

    // MARK: The PIN

    /// Derives the key that proves the PIN to the room's host. Asks for the PIN if there is none yet.
    func findPINKey(_ room: RoomID, _ host: KeyFingerprint) {
        guard let pin else {
            pinWanted = (room, host)
            eventContinuation.yield(.pinNeeded)
            return
        }
        pinWanted = nil
        Task { [weak self] in
            guard let key = await Self.key(of: pin, room: room, host: host) else { return }
            await self?.handleGuestEvent(.pinKeyDerived(key))
        }
    }

    /// Derives in advance the PIN's key for hosting the room: at the handover there is no time.
    private func prepareToHost(_ roster: Roster) {
        guard let pin else { return }
        Task { [weak self, fingerprint] in
            let key = await Self.key(of: pin, room: roster.room, host: fingerprint)
            await self?.keep(key)
        }
    }

    private func keep(_ key: PINKey?) { core.ownPINKey = key }

    // MARK: Known peers

    /// Changes the known peers at once, and their file in the background.
    private func remember(_ change: @escaping @Sendable (inout KnownPeers) -> Void) {
        change(&core.knownPeers)
        store.later { [eventContinuation] store in
            do throws(NearbyStoreError) {
                try store.update(change)
            } catch {
                eventContinuation.yield(.store(error))
            }
        }
    }

    /// Reads the known peers again if their file has changed, as by `earshot peers`, so that the change applies to new guests.
    /// For hosts only.
    func reviewKnownPeers() async {
        guard case .host = core.role else { return }
        let version = knownPeersVersion
        guard
            let (peers, now) = try? await store.elsewhere({ (store) throws(NearbyStoreError) in
                try store.knownPeers(unless: version)
            })
        else { return }
        knownPeersVersion = now
        core.knownPeers = peers
    }
}
