// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Finds a room by its name among announced ones, without a clock or a network.
///
/// A name that differs in letter case is accepted after half a second without an exact match.
package struct RoomFinder: Sendable {
    /// The end of a search.
    package enum Outcome: Hashable, Sendable {
        /// One room has the name.
        case found(NearbyRoom)
        /// Several rooms have the name.
        case ambiguous([NearbyRoom])
        /// No room had the name in time. `seen` has the names of the visible rooms; `problem` is the reason if rooms cannot be
        /// seen at all.
        case notFound(seen: [String], problem: DiscoveryError?)
    }

    /// The seconds after the first match in which a second room with the name may appear.
    static let duplicateWait = 0.5
    /// The maximum seconds of a search while the daemon is unavailable: it may be restarting.
    static let restartDelay = 1.0

    private let name: String
    private let timeout: Double
    private let start: HostTime
    private var firstMatch: HostTime?

    /// - Parameter timeout: the maximum seconds of the search; while no daemon runs, at most ``restartDelay``.
    package init(_ name: String, timeout: Double, at time: HostTime) {
        self.name = name
        self.timeout = timeout
        start = time
    }

    /// Returns the outcome once the search has ended; nil before.
    package mutating func update(_ snapshot: RoomBrowser.Snapshot, at now: HostTime) -> Outcome? {
        let rooms = matches(in: snapshot.rooms)
        if firstMatch == nil, !rooms.isEmpty { firstMatch = now }
        let isSettled = firstMatch.map { now.seconds(since: $0) > Self.duplicateWait } ?? false
        if rooms.count == 1, isSettled || rooms[0].name == name { return .found(rooms[0]) }
        if rooms.count > 1, isSettled { return .ambiguous(rooms) }
        let elapsed = now.seconds(since: start)
        if case .unavailable(let problem) = snapshot.state {
            return elapsed > min(Self.restartDelay, timeout) ? .notFound(seen: [], problem: problem) : nil
        }
        return elapsed > timeout ? .notFound(seen: snapshot.rooms.map(\.name), problem: nil) : nil
    }

    /// Returns the rooms with this name; if there are none, those whose name differs in letter case.
    package func matches(in rooms: [NearbyRoom]) -> [NearbyRoom] {
        let exact = rooms.filter { $0.name == name }
        return exact.isEmpty ? rooms.filter { $0.name.lowercased() == name.lowercased() } : exact
    }
}
