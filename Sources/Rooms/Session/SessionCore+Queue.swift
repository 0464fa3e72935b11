// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The event queue. The actions of each event are executed before the next event is handled. Events caused by these actions are
/// queued.
extension SessionCore {
    /// Handles events and the events that they cause. Returns the actions for the owner.
    /// - Parameter time: not before that of the last event.
    package mutating func handle(_ events: [Event], at time: HostTime) -> [Action] {
        self.time = time
        queue += events
        var next = queue.startIndex
        while next < queue.endIndex {
            let event = queue[next]
            next += 1
            switch event {
            case .host(let event): handleHost(event)
            case .guest(let event): handleGuest(event)
            case .media(let event): for action in negotiation.handle(event, at: time) { act(action) }
            }
        }
        queue.removeAll(keepingCapacity: true)
        defer { actions = [] }
        return actions
    }

    /// Does what is due at ``nextDeadline``.
    package mutating func tick(at time: HostTime) -> [Action] {
        handle(hostLocation() + browsersHeard() + [.host(.tick), .guest(.tick), .media(.tick)], at: time)
    }

    /// The time by which ``tick(at:)`` must be called; nil if nothing is due.
    package var nextDeadline: HostTime? {
        let roomDue: HostTime? =
            switch role {
            case .none: nil
            case .host(let host): host.nextDeadline
            case .guest(let guest): guest.nextDeadline
            }
        guard let roomDue, let mediaDue = negotiation.nextDeadline else { return roomDue ?? negotiation.nextDeadline }
        return min(roomDue, mediaDue)
    }

    /// Handles a request of another peer.
    package mutating func receive(
        _ request: RoomRequest, _ id: RequestID, from caller: RequestOrigin, at time: HostTime
    )
        -> [Action]
    {
        switch role {
        case .none: [.reply(id, .refused(.notHost))]
        case .host: handle([.host(.requestReceived(request, id, from: caller))], at: time)
        case .guest: handle([.guest(.requestReceived(request, id))], at: time)
        }
    }

    private mutating func handleHost(_ event: RoomHost.Event) {
        guard case .host(var host) = role else { return }
        role = .none  // so that `host` is the only copy and is changed in place
        let old = host.roster
        let actions = host.handle(event, at: time)
        let (isOver, isChanged) = (host.isClosed, host.roster != old)
        let roster = host.roster
        role = .host(host)
        for action in actions { act(action, roster) }
        if isOver, case .host(let host) = role, host.isClosed {
            endStay()
        } else if isChanged {
            self.actions.append(.announce)
            updateNegotiation()
        }
    }

    private mutating func handleGuest(_ event: RoomGuest.Event) {
        guard case .guest(var guest) = role else { return }
        role = .none
        let old = guest.roster
        let actions = guest.handle(event, at: time)
        let roster = guest.roster
        let isOver = guest.ending != nil
        nextCall = guest.nextCall
        role = .guest(guest)
        for action in actions { act(action, roster) }
        if isOver, case .guest(let guest) = role, let ending = guest.ending {
            endStay()
            self.actions.append(.ended(ending))
        } else if roster != old {
            updateNegotiation()
        }
    }

    /// Passes the roster to the media negotiation.
    mutating func updateNegotiation() {
        if let roster, let me = memberID { queue.append(.media(.rosterChanged(roster, as: me))) }
    }

    /// Ends the stay in a room, or the attempt to join one. A change between host and guest of the same room is no end.
    private mutating func endStay() {
        queue.append(.media(.left))
        actions.append(.left)
        role = .none
        if hasEntered { local.allowsRecording = nil }
        hasEntered = false
    }
}
