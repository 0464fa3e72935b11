// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Looks for rooms on the networks of this machine, by DNS-SD over Avahi, until it is stopped or freed. This machine's own are
/// among them.
///
/// When the daemon is started again it goes on. It has a thread, `discovery`; members are for any other, and wait for nothing
/// unless they say so.
public final class RoomBrowser: Sendable {
    /// The state of a browser.
    public enum State: Hashable, Sendable {
        /// The daemon is asked.
        case starting
        /// Rooms come and go as they are told.
        case browsing
        /// No room can be seen for now: it continues by itself when the daemon is there.
        case unavailable(DiscoveryError)
        /// It was stopped.
        case stopped
    }

    /// The visible rooms at one time.
    public struct Snapshot: Hashable, Sendable {
        /// The state of the browser.
        public var state: State
        /// The rooms, by name; none unless it browses.
        public var rooms: [NearbyRoom]
    }

    private let seen = CurrentValue(Snapshot(state: .starting, rooms: []))
    private let loop: AvahiLoop

    /// Begins to look.
    public init() {
        let seen = seen
        loop = AvahiLoop { BrowserWork(seen) }
    }

    deinit { loop.stop() }

    /// The visible rooms.
    public var snapshot: Snapshot { seen.current }

    /// Returns the visible rooms, and each change of them. Who is slow misses what was between.
    public func snapshots() -> AsyncStream<Snapshot> { seen.stream(keeping: 1) }

    /// Ends the search. Returns when the daemon has confirmed, or after a second.
    public func stop() {
        loop.stop()
        seen.set(Snapshot(state: .stopped, rooms: []))
    }
}
