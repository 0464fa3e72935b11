// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Foundation

/// A session's announcement by DNS-SD, and its search for other parts of the room.
struct RoomDiscovery {
    /// Announces the room; nil while it is not announced.
    var advertiser: RoomAdvertiser?
    /// Looks for other parts; nil in no room.
    var browser: RoomBrowser?
    /// Read the news of the two.
    var tasks: [Task<Void, Never>] = []
    var probes = PartProbes()
    /// The rooms that are announced now.
    var rooms: [NearbyRoom] = []
    /// Looks for a host that is lost among the announced rooms.
    var hostSearch: Task<Void, Never>?

    /// Ends both in the background: Avahi's daemon may be slow.
    mutating func stop() {
        for task in tasks { task.cancel() }
        tasks = []
        rooms = []
        hostSearch?.cancel()
        hostSearch = nil
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

/// The announced parts of a room that are probed. Anybody can announce any number of them, so only a few are probed at once.
struct PartProbes {
    /// Parts that are asked at once at most.
    static let limit = 8
    /// Seconds until a part is asked again.
    private static let interval = 5.0
    /// Parts that are remembered at most.
    private static let capacity = 64

    /// The time of each part's last probe.
    private(set) var dates: [KeyFingerprint: HostTime] = [:]
    /// Probes without an answer yet.
    private(set) var runningCount = 0

    /// Chooses the parts to ask now, first those that were not asked before. ``end()`` follows for each of them.
    mutating func begin(among parts: [NearbyRoom], at now: HostTime) -> [NearbyRoom] {
        let due = parts.filter { dates[$0.id.hostKey].map { now.seconds(since: $0) > Self.interval } ?? true }
            .sorted { (dates[$0.id.hostKey]?.nanoseconds ?? 0) < (dates[$1.id.hostKey]?.nanoseconds ?? 0) }
            .prefix(Self.limit - runningCount)
        for part in due { dates[part.id.hostKey] = now }
        runningCount += due.count
        while dates.count > Self.capacity, let oldest = dates.min(by: { $0.value < $1.value }) {
            dates[oldest.key] = nil
        }
        return Array(due)
    }

    /// A part has answered, or not in time.
    mutating func end() { runningCount -= 1 }
}
