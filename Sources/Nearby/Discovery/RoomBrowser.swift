// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Discovers rooms on the local networks, including this machine's own, by DNS-SD over Avahi, until it is stopped or released.
///
/// When the daemon restarts, the browser continues. It has a thread, `discovery`; members are for any other thread and do not
/// wait unless documented.
public final class RoomBrowser: Sendable {
    /// The state of a browser.
    public enum State: Hashable, Sendable {
        /// The browser waits for the daemon.
        case starting
        /// The browser runs, and ``RoomBrowser/Snapshot/rooms`` has the rooms that the daemon reports.
        case browsing
        /// The daemon is missing or refuses, so no room is visible; browsing continues when the daemon runs.
        case unavailable(DiscoveryError)
        /// The browser was stopped.
        case stopped
    }

    /// The state of the browser and the visible rooms at one time.
    public struct Snapshot: Hashable, Sendable {
        /// The state of the browser.
        public var state: State
        /// The visible rooms, sorted by name; empty unless ``state`` is `browsing`.
        public var rooms: [NearbyRoom]
    }

    private let currentSnapshot = CurrentValue(Snapshot(state: .starting, rooms: []))
    private let loop: AvahiLoop

    /// Starts browsing.
    public init() {
        let currentSnapshot = currentSnapshot
        loop = AvahiLoop { BrowserWork(currentSnapshot) }
    }

    deinit { loop.stop() }

    /// The present state and visible rooms.
    public var snapshot: Snapshot { currentSnapshot.current }

    /// Returns a stream of the present snapshot and each later one. A slow reader gets the latest only.
    public func snapshots() -> AsyncStream<Snapshot> { currentSnapshot.stream(keeping: 1) }

    /// Stops browsing. Returns when the daemon has confirmed it, or after a second.
    public func stop() {
        loop.stop()
        currentSnapshot.set(Snapshot(state: .stopped, rooms: []))
    }
}
