import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// The session's event queue. The actions of each event are executed before the next event is handled; events that they cause
/// wait in the queue. The clock is read once for each event from outside.
extension NearbySession {
    func tellHost(_ event: RoomHost.Event) { handle([.host(event)]) }
    func tellGuest(_ event: RoomGuest.Event) { handle([.guest(event)]) }
    func negotiate(_ event: MediaNegotiation.Event) { handle([.media(event)]) }

    /// Enqueues events, and handles all that wait unless this is called by an action.
    func handle(_ events: [SessionEvent]) {
        queue += events
        guard !isHandlingEvents else { return }
        isHandlingEvents = true
        eventTime = .now()
        var next = queue.startIndex
        while next < queue.endIndex {
            let event = queue[next]
            next += 1
            switch event {
            case .host(let event): handleHost(event)
            case .guest(let event): handleGuest(event)
            case .media(let event):
                for action in negotiation.handle(event, at: eventTime) { act(action) }
            }
        }
        queue = []
        isHandlingEvents = false
        schedule()
    }

    private func handleHost(_ event: RoomHost.Event) {
        guard case .host(var host) = role else { return }
        role = .none  // or the value would be copied
        let old = host.roster
        let actions = host.handle(event, at: eventTime)
        let (isOver, isChanged) = (host.isClosed, host.roster != old)
        let roster = host.roster
        role = .host(host)
        for action in actions { act(action, roster) }
        if isOver, case .host(let host) = role, host.isClosed {
            endStay()
        } else if isChanged {
            announce()
            followRoster()
        }
    }

    private func handleGuest(_ event: RoomGuest.Event) {
        guard case .guest(var guest) = role else { return }
        role = .none
        let old = guest.roster
        let actions = guest.handle(event, at: eventTime)
        let roster = guest.roster
        let isOver = guest.ending != nil
        role = .guest(guest)
        for action in actions { act(action, roster) }
        if isOver, case .guest(let guest) = role, let ending = guest.ending {
            endStay()
            news.yield(.ended(ending))
        } else if roster != old {
            followRoster()
        }
    }

    /// Media follows the roster.
    func followRoster() {
        if let roster, let me = memberID { negotiate(.rosterChanged(roster, as: me)) }
    }

    private func endStay() {
        negotiate(.left)
        endTransfers()
        stopDiscovery()
        role = .none
    }

    // MARK: Time

    /// Plans a ``tick()`` at the next deadline of a core.
    private func schedule() {
        let room: HostTime? =
            switch role {
            case .none: nil
            case .host(let host): host.nextDeadline
            case .guest(let guest): guest.nextDeadline
            }
        guard let due = [room, negotiation.nextDeadline].compactMap({ $0 }).min() else {
            timer?.cancel()
            timerDeadline = nil
            return
        }
        guard due != timerDeadline else { return }
        timer?.cancel()
        timerDeadline = due
        let wait = max(0, due.seconds(since: eventTime))
        timer = Task { [weak self] in
            try? await Task.sleep(for: .seconds(wait + 0.001))
            if !Task.isCancelled { await self?.tick() }
        }
    }

    private func tick() {
        timerDeadline = nil
        handle(
            hostLocation() + browsersHeard() + [.host(.tick), .guest(.tick), .media(.tick)])
    }
}
