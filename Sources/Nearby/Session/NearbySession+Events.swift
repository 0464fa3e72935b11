// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// Events for the session's core, and the core's timer. The clock is read once for each external event.
extension NearbySession {
    func handleHostEvent(_ event: RoomHost.Event) { handle([.host(event)]) }
    func handleGuestEvent(_ event: RoomGuest.Event) { handle([.guest(event)]) }

    func handle(_ events: [SessionCore.Event]) { act { core, now in core.handle(events, at: now) } }

    /// Changes the core, executes the core's actions and sets its timer.
    func act(_ change: (inout SessionCore, HostTime) -> [SessionCore.Action]) {
        let now = HostTime.now()
        for action in change(&core, now) { execute(action) }
        timer.set(to: core.nextDeadline, at: now) { [weak self] in await self?.tick() }
    }

    private func tick() {
        timer.fired()
        act { core, now in core.tick(at: now) }
    }

    // MARK: The media port

    func handleMediaEvent(_ event: MediaPortEvent) {
        switch event {
        case .state(let peer, let state, let transportID):
            act { core, now in core.transportChanged(peer, state, of: transportID, at: now) }
        case .addresses(let addresses):
            act { core, now in
                guard let actions = core.addressesChanged(addresses.map(\.address), at: now) else { return [] }
                // A kept connection may use an address that was removed, and would fail without an error.
                outgoing.closeAll()
                return actions
            }
        }
    }

    func takeDatagram(_ bytes: [UInt8], from peer: PeerID) {
        guard let member = core.member(peer) else { return }
        datagramContinuation.yield(NearbyDatagram(sender: member.id, bytes: bytes))
    }
}
