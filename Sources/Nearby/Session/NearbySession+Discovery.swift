import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import Foundation

/// What is told of the room by DNS-SD, and what other parts of it are looked for.
extension NearbySession {
    /// Begins to announce the room that this session hosts.
    func advertise() {
        guard case .host(let host) = core.role, core.choices.isAnnounced, advertiser == nil else { return }
        do throws(DiscoveryError) {
            let advertiser = try RoomAdvertiser(
                name: host.roster.name.text, port: port, announcement: announcement(host))
            self.advertiser = advertiser
            discoveryTasks.append(
                Task { [news] in for await state in advertiser.states() { news.yield(.discovery(state)) } })
        } catch {
            news.yield(.discovery(.unavailable(error)))
        }
        lookForParts()
    }

    /// Tells anew what has changed.
    func announce() {
        guard case .host(let host) = core.role, let advertiser else { return }
        let new = announcement(host)
        if advertiser.announcement != new { advertiser.announcement = new }
    }

    private func announcement(_ host: RoomHost) -> RoomAnnouncement {
        RoomAnnouncement(
            roomID: host.roster.room, hostKey: fingerprint, needsPIN: host.needsPIN,
            memberCount: host.roster.members.count)
    }

    /// The same room under another host is a part that was split off: its core is told, and asks the person.
    func lookForParts() {
        guard browser == nil else { return }
        let browser = RoomBrowser()
        self.browser = browser
        discoveryTasks.append(
            Task { [weak self] in
                for await snapshot in browser.snapshots() { await self?.saw(snapshot.rooms) }
            })
    }

    /// Anybody can announce any number of parts: a few are looked at at once, first those that were not before.
    func saw(_ rooms: [NearbyRoom]) {
        guard let roster else { return }
        let now = HostTime.now()
        let parts = rooms.filter {
            let key = $0.id.hostKey
            return $0.id.roomID == roster.room && key != roster.hostKey && key != fingerprint
                && partsProbed[key].map { now.seconds(since: $0) > 5 } ?? true
        }.sorted { (partsProbed[$0.id.hostKey]?.nanoseconds ?? 0) < (partsProbed[$1.id.hostKey]?.nanoseconds ?? 0) }
        for part in parts.prefix(Self.partProbeLimit - partProbes) {
            let key = part.id.hostKey
            partsProbed[key] = now
            partProbes += 1
            Task { [weak self] in
                await self?.look(at: Endpoint(addresses: part.endpoints, key: .exactly(key)))
                await self?.partProbed()
            }
        }
        while partsProbed.count > 64, let oldest = partsProbed.min(by: { $0.value < $1.value }) {
            partsProbed[oldest.key] = nil
        }
    }

    static var partProbeLimit: Int { 8 }

    private func partProbed() { partProbes -= 1 }

    /// The room is not announced any more. In the background: Avahi's daemon may take its time.
    func stopDiscovery() {
        for task in discoveryTasks { task.cancel() }
        discoveryTasks = []
        let (advertiser, browser) = (advertiser, browser)
        self.advertiser = nil
        self.browser = nil
        guard advertiser != nil || browser != nil else { return }
        Thread.detachNewThread {
            advertiser?.stop()
            browser?.stop()
        }
    }
}
