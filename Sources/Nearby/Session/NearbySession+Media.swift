import EarshotMediaTransport
import EarshotRooms

import struct EarshotMediaTransport.SocketAddress

/// The media port's events, and what the session learns from media.
extension NearbySession {
    func take(_ event: MediaPortEvent) {
        switch event {
        case .state(let peer, let state, let way):
            // An earlier transport's state says nothing of this one.
            if let member = member(peer), transports[member.id]?.way == way { transportChanged(member, state) }
        case .addresses(let now):
            let new = now.map(\.address)
            guard new != addresses else { return }
            addresses = new
            // What is kept open may come from an address that is gone, and nobody would say so.
            for client in clients.values { client.http.close() }
            clients = [:]
            tell(MemberUpdate(addresses: new))
            handle(hostLocation())
        }
    }

    func takeDatagram(_ bytes: [UInt8], from peer: PeerID) {
        guard let member = member(peer) else { return }
        datagramNews.yield(NearbyDatagram(sender: member.id, bytes: bytes))
    }

    private func member(_ peer: PeerID) -> Member? { negotiation.members.first { PeerID($0.id) == peer } }

    private func transportChanged(_ member: Member, _ state: TransportState) {
        news.yield(.transport(member, state))
        var events: [SessionEvent] =
            switch state {
            case .open: [.media(.transportOpened(member.id))]
            case .closed, .failed: [.media(.transportEnded(member.id))]
            case .connecting, .securing, .silent, .suspended: []
            }
        if state.carriesMedia { events += hostLocation() }
        handle(events)
    }

    /// Media finds the way to a host that has moved before its signalling does.
    func hostLocation() -> [SessionEvent] {
        guard case .guest(let guest) = role, let roster = guest.roster, let host = roster[roster.host],
            let key = host.key,
            let report = mediaPort.report(of: PeerID(host.id)), case .open = report.state, let pair = report.pair
        else { return [] }
        let address = SocketAddress(pair.remote.address, port: host.port)
        return [.guest(.hostLocated(key, at: address))]
    }

    /// A page is heard of by its media: where it has nothing to tell it asks for nothing. (A native member's media may reach us
    /// when its signalling does not; then it goes on in another part of the room, and is away from this one.)
    func browsersHeard() -> [SessionEvent] {
        negotiation.members.compactMap { member in
            guard !member.isNative, case .open? = mediaPort.report(of: PeerID(member.id))?.state else { return nil }
            return .host(.memberHeard(member.id))
        }
    }
}
