// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import Foundation

/// The room's announcement by DNS-SD, and the search for other parts of the room.
extension NearbySession {
    /// Starts announcing the room that this session hosts.
    func advertise() {
        guard case .host(let host) = core.role, core.choices.isAnnounced, discovery.advertiser == nil else { return }
        do throws(DiscoveryError) {
            let advertiser = try RoomAdvertiser(
                name: host.roster.name.text, port: port, announcement: announcement(host))
            discovery.advertiser = advertiser
            discovery.tasks.append(
                Task { [eventContinuation] in
                    for await state in advertiser.states() { eventContinuation.yield(.discovery(state)) }
                })
        } catch {
            eventContinuation.yield(.discovery(.unavailable(error)))
        }
        lookForParts()
    }

    /// Updates the announcement after a change.
    func announce() {
        guard case .host(let host) = core.role, let advertiser = discovery.advertiser else { return }
        let new = announcement(host)
        if advertiser.announcement != new { advertiser.announcement = new }
    }

    private func announcement(_ host: RoomHost) -> RoomAnnouncement {
        RoomAnnouncement(
            roomID: host.roster.room, hostKey: fingerprint, needsPIN: host.needsPIN,
            memberCount: host.roster.members.count, song: discovery.song,
            freePart: discovery.freePart)
    }

    /// Announces the title of the song that the room sings, while this session is the host; nil for none.
    /// - Parameter freePart: the part that nobody sings, 1 or 2; nil if there is none.
    package func announceSong(_ title: String?, freePart: Int?) {
        (discovery.song, discovery.freePart) = (title, freePart)
        announce()
    }

    /// Looks for the same room with another host, a part that was split off. Its host is asked to describe it, and the answer
    /// goes to the core.
    func lookForParts() {
        guard discovery.browser == nil else { return }
        let browser = RoomBrowser()
        discovery.browser = browser
        discovery.tasks.append(
            Task { [weak self] in
                for await snapshot in browser.snapshots() { await self?.saw(snapshot.rooms) }
            })
    }

    /// Looks for a lost host, which may have announced its room at another address, before or after it fell silent.
    func lookForHost() {
        discovery.hostSearch?.cancel()
        discovery.hostSearch = Task { [weak self] in
            while !Task.isCancelled, await self?.searchAgain() == true { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    private func searchAgain() -> Bool {
        guard core.isHostLost else { return false }
        saw(discovery.rooms)
        return true
    }

    /// Asks the hosts of announced parts of the room, and the room's own host if it is lost, to describe their room.
    func saw(_ rooms: [NearbyRoom]) {
        discovery.rooms = rooms
        guard let roster else { return }
        let parts = rooms.filter {
            $0.id.roomID == roster.room && $0.id.hostKey != fingerprint
                && ($0.id.hostKey != roster.hostKey || core.isHostLost)
        }
        for part in discovery.probes.begin(among: parts, at: .now()) {
            Task { [weak self] in
                await self?.probe(Endpoint(addresses: part.endpoints, key: .exactly(part.id.hostKey)))
                await self?.partProbed()
            }
        }
    }

    private func partProbed() { discovery.probes.end() }
}
