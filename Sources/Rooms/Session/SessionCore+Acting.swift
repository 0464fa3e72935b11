// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Executes the actions of the host's or the guest's core, or returns them to the owner.
extension SessionCore {
    mutating func act(_ action: RoomHost.Action, _ roster: Roster) {
        switch action {
        case .reply(let id, let reply): actions.append(.reply(id, reply))
        case .send(let bytes, let id): actions.append(.send(bytes, on: id))
        case .end(let id): actions.append(.end(id))
        case .question(let id, let question): actions.append(.question(id, question))
        case .withdraw(let id, let reason): actions.append(.withdraw(id, reason))
        case .offered(let description): negotiate(.offerReceived(description.offer, sdp: description.sdp))
        case .answered(let description, let member):
            negotiate(.answerReceived(description.offer, sdp: description.sdp, by: member))
        case .unanswered(let offer): negotiate(.offerFailed(offer, .offerUnanswered))
        case .ended(let offer): negotiate(.sessionEnded(offer))
        case .probe(let endpoint): actions.append(.probe(endpoint))
        case .becomeGuest(let endpoint):
            actions.append(.becomesGuest)
            role = .guest(makeGuest(knowing: knownPeers))
            queue.append(.guest(.join(endpoint)))
        case .note(let key, let name, let isAccepted):
            actions.append(.note(key, as: name, isAccepted: isAccepted))
        case .block(let key, let name): actions.append(.block(key, as: name))
        case .notify(let notification): actions.append(.hostNotification(notification, roster))
        }
    }

    mutating func act(_ action: RoomGuest.Action, _ roster: Roster?) {
        switch action {
        case .call(let id, let request, let endpoint): actions.append(.call(id, request, endpoint))
        case .cancel(let id): actions.append(.cancel(id))
        case .reply(let id, let reply): actions.append(.reply(id, reply))
        case .needPIN(let room, let host): actions.append(.needPIN(room, host: host))
        case .note(let key, let name): actions.append(.note(key, as: name, isAccepted: true))
        case .becomeHost(let succession): becomeHost(succession)
        case .notify(let notification): act(notification, roster)
        }
    }

    private mutating func act(_ notification: RoomGuest.Notification, _ roster: Roster?) {
        switch notification {
        case .admitted(let roster, let me):
            ownPINKey = nil
            hasEntered = true
            actions.append(.entered(roster, as: me))
            negotiate(.admitted(roster, as: me))
        case .offered(let offer, let sdp, _): negotiate(.offerReceived(offer, sdp: sdp))
        case .answered(let offer, let sdp, let member): negotiate(.answerReceived(offer, sdp: sdp, by: member.id))
        case .unanswered(let offer, let error): negotiate(.offerFailed(offer, error))
        case .ended(let offer): negotiate(.sessionEnded(offer))
        case .asking, .changed, .forged, .reconnecting, .reconnected, .handedOver, .askingAgain, .split:
            actions.append(.guestNotification(notification, roster))
        case .over: break  // `handleGuest` reports the ending after all other actions
        }
    }

    mutating func negotiate(_ event: MediaNegotiation.Event) { queue.append(.media(event)) }

    private mutating func becomeHost(_ succession: HostHandover) {
        let pin = ownPINKey.flatMap { $0.room == succession.roster.room ? $0 : nil }
        var configuration = hostConfiguration(pin)
        // If the room had a PIN and its key is unknown here, the user is asked about each guest.
        if succession.needsPIN, pin == nil { configuration.policy = .ask }
        let host = RoomHost(
            succeeding: succession, secret: randomBytes(32), configuration: configuration, knownPeers: knownPeers,
            at: time)
        role = .host(host)
        choices.isAnnounced = succession.roster.isAnnounced
        actions.append(.becameHost(host.roster))
        updateNegotiation()
    }
}
