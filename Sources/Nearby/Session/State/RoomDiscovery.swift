// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Foundation

/// A session's announcement by DNS-SD, and its search for other parts of the room.
struct RoomDiscovery {
    /// The advertiser; nil while the room is not announced.
    var advertiser: RoomAdvertiser?
    /// The title of the song that the room sings; nil without one.
    var song: String?
    /// The part of the song that nobody sings, 1 or 2; nil if there is none.
    var freePart: Int?
    /// The browser for other parts; nil outside any room.
    var browser: RoomBrowser?
    /// The tasks that read the advertiser's states and the browser's rooms.
    var tasks: [Task<Void, Never>] = []
    var probes = PartProbes()
    /// The rooms that the browser last reported.
    var rooms: [NearbyRoom] = []
    /// The search for a lost host among the announced rooms.
    var hostSearch: Task<Void, Never>?

    /// Stops the advertiser and the browser in the background: Avahi's daemon may be slow.
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

/// The questions to the announced parts of a room. Anyone can announce any number of parts, so only a few are asked at once.
struct PartProbes {
    /// The maximum parts to ask at once.
    static let limit = 8
    /// The seconds until a part is asked again.
    private static let interval = 5.0
    /// The maximum remembered parts.
    private static let capacity = 64

    /// The time at which each part was last asked.
    private(set) var dates: [KeyFingerprint: HostTime] = [:]
    /// The questions without an answer yet.
    private(set) var runningCount = 0

    /// Returns the parts to ask now, first those that were not asked before. ``end()`` must follow for each.
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

    /// Notes that a part has answered, or timed out.
    mutating func end() { runningCount -= 1 }
}
