import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// Events for the session's core, and its timer. The clock is read once for each event from outside.
extension NearbySession {
    func tellHost(_ event: RoomHost.Event) { handle([.host(event)]) }
    func tellGuest(_ event: RoomGuest.Event) { handle([.guest(event)]) }

    func handle(_ events: [SessionCore.Event]) { act { core, now in core.handle(events, at: now) } }

    /// Changes the core, and executes its actions.
    func act(_ change: (inout SessionCore, HostTime) -> [SessionCore.Action]) {
        eventTime = .now()
        for action in change(&core, eventTime) { execute(action) }
        schedule()
    }

    /// Plans a ``tick()`` at the core's next deadline.
    private func schedule() {
        guard let due = core.nextDeadline else {
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
        act { core, now in core.tick(at: now) }
    }

    // MARK: The media port

    func take(_ event: MediaPortEvent) {
        switch event {
        case .state(let peer, let state, let way):
            act { core, now in core.transportChanged(peer, state, of: way, at: now) }
        case .addresses(let addresses):
            act { core, now in
                guard let actions = core.addressesChanged(addresses.map(\.address), at: now) else { return [] }
                // What is kept open may come from an address that is gone, and nobody would say so.
                closeClients()
                return actions
            }
        }
    }

    func takeDatagram(_ bytes: [UInt8], from peer: PeerID) {
        guard let member = core.member(peer) else { return }
        datagramNews.yield(NearbyDatagram(sender: member.id, bytes: bytes))
    }

    private func closeClients() {
        for client in clients.values { client.http.close() }
        clients = [:]
    }
}
