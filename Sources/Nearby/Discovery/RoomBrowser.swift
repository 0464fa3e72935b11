// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Discovers rooms on the local networks, including this machine's own, by DNS-SD over Avahi, until it is stopped or released.
///
/// When the daemon restarts it continues. It has a thread, `discovery`; members are for any other thread and do not wait unless
/// documented.
public final class RoomBrowser: Sendable {
    /// The state of a browser.
    public enum State: Hashable, Sendable {
        /// The daemon was asked.
        case starting
        /// The daemon has accepted the request, and ``RoomBrowser/Snapshot/rooms`` follows its reports.
        case browsing
        /// No room is visible for now; it continues when the daemon runs.
        case unavailable(DiscoveryError)
        /// It was stopped.
        case stopped
    }

    /// The visible rooms at one time.
    public struct Snapshot: Hashable, Sendable {
        /// The state of the browser.
        public var state: State
        /// The rooms by name; empty unless it is browsing.
        public var rooms: [NearbyRoom]
    }

    private let seen = CurrentValue(Snapshot(state: .starting, rooms: []))
    private let loop: AvahiLoop

    /// Starts browsing.
    public init() {
        let seen = seen
        loop = AvahiLoop { BrowserWork(seen) }
    }

    deinit { loop.stop() }

    /// The visible rooms.
    public var snapshot: Snapshot { seen.current }

    /// Returns a stream of the visible rooms and each change. A slow reader gets the latest only.
    public func snapshots() -> AsyncStream<Snapshot> { seen.stream(keeping: 1) }

    /// Stops browsing. Returns when the daemon has confirmed it, or after a second.
    public func stop() {
        loop.stop()
        seen.set(Snapshot(state: .stopped, rooms: []))
    }
}
