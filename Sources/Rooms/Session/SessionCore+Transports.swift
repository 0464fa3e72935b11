// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

import struct EarshotMediaTransport.SocketAddress

/// Handles the states of media transports, and changes of the local addresses.
extension SessionCore {
    /// Handles a new state of a transport.
    package mutating func transportChanged(
        _ peer: PeerID, _ state: TransportState, of transportID: MediaPort.TransportID, at now: HostTime
    ) -> [Action] {
        // The state may be that of an earlier transport.
        guard let member = member(peer), transports[member.id]?.transportID == transportID else { return [] }
        actions.append(.transport(member, state))
        var events: [Event] =
            switch state {
            case .open: [.media(.transportOpened(member.id))]
            case .closed, .failed: [.media(.transportEnded(member.id))]
            case .connecting, .securing, .silent, .suspended: []
            }
        if state.carriesMedia { events += hostLocation() }
        return handle(events, at: now)
    }

    /// Handles a change of the local addresses. Close persistent connections before: their local address may no longer exist.
    /// - Returns: nil if the addresses are the same.
    package mutating func addressesChanged(_ addresses: [IPAddress], at now: HostTime) -> [Action]? {
        guard addresses != local.addresses else { return nil }
        local.addresses = addresses
        return notify(MemberUpdate(addresses: addresses), at: now) + handle(hostLocation(), at: now)
    }

    /// Returns the member with this id at the media port; nil if there is none.
    package func member(_ peer: PeerID) -> Member? { negotiation.members.first { PeerID($0.id) == peer } }

    /// Returns an event with the address of the host's media; none unless the transport is open. Media finds a moved host before
    /// signalling does.
    func hostLocation() -> [Event] {
        guard case .guest(let guest) = role, let roster = guest.roster, let host = roster[roster.host],
            let key = host.key,
            let report = port.report(of: PeerID(host.id)), case .open = report.state, let pair = report.pair
        else { return [] }
        let address = SocketAddress(pair.remote.address, port: host.port)
        return [.guest(.hostLocated(key, at: address))]
    }

    /// Returns a sign of life for each browser with an open transport, because a page without news sends no requests. (A native
    /// member's media may arrive while its signalling does not. Then the member is in another part of the room, and counts as
    /// away.)
    func browsersHeard() -> [Event] {
        negotiation.members.compactMap { member in
            guard !member.isNative, case .open? = port.report(of: PeerID(member.id))?.state else { return nil }
            return .host(.memberHeard(member.id))
        }
    }
}
