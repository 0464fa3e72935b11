// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

import struct EarshotMediaTransport.SocketAddress

/// The facts that media tells of members, and this machine's addresses.
extension SessionCore {
    /// Handles another state of a transport.
    package mutating func transportChanged(
        _ peer: PeerID, _ state: TransportState, of way: MediaPort.Way, at now: HostTime
    ) -> [Action] {
        // An earlier transport's state says nothing of this one.
        guard let member = member(peer), transports[member.id]?.way == way else { return [] }
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

    /// Handles other addresses of this machine. Connections that are kept open are to be closed before: they may come from
    /// addresses that exist no more.
    /// - Returns: nil if the addresses are the same.
    package mutating func addressesChanged(_ addresses: [IPAddress], at now: HostTime) -> [Action]? {
        guard addresses != local.addresses else { return nil }
        local.addresses = addresses
        return tell(MemberUpdate(addresses: addresses), at: now) + handle(hostLocation(), at: now)
    }

    /// Returns the member that media calls by this number; nil if there is none.
    package func member(_ peer: PeerID) -> Member? { negotiation.members.first { PeerID($0.id) == peer } }

    /// Media finds the way to a host that has moved before its signalling does.
    func hostLocation() -> [Event] {
        guard case .guest(let guest) = role, let roster = guest.roster, let host = roster[roster.host],
            let key = host.key,
            let report = port.report(of: PeerID(host.id)), case .open = report.state, let pair = report.pair
        else { return [] }
        let address = SocketAddress(pair.remote.address, port: host.port)
        return [.guest(.hostLocated(key, at: address))]
    }

    /// A page is heard of by its media: if it has nothing to tell it asks for nothing. (A native member's media may reach us when
    /// its signalling does not; then it goes on in another part of the room, and is away from this one.)
    func browsersHeard() -> [Event] {
        negotiation.members.compactMap { member in
            guard !member.isNative, case .open? = port.report(of: PeerID(member.id))?.state else { return nil }
            return .host(.memberHeard(member.id))
        }
    }
}
