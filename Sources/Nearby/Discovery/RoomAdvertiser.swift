// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Announces a room on the local networks, by DNS-SD over Avahi, until it is stopped or released.
///
/// If another room has the name, the advertiser takes the next one (`Song #2`) and reports it. When the daemon restarts, the
/// advertiser announces the room again. It has a thread, `discovery`; members are for any other thread and do not wait unless
/// documented.
public final class RoomAdvertiser: Sendable {
    /// The state of an advertiser.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// The advertiser waits for the daemon, or the daemon checks whether the name is free, which takes about a second.
        case starting
        /// The room is visible on the local networks, under this name.
        case advertising(name: String)
        /// The name is taken; the next one is tried.
        case collision(taken: String, trying: String)
        /// The room is not announced; announcing resumes when the daemon runs.
        case unavailable(DiscoveryError)
        /// The advertiser was stopped, and the announcement withdrawn.
        case stopped

        /// One line for the user.
        public var description: String {
            switch self {
            case .starting: "announcing the room"
            case .advertising(let name): "people nearby find the room as '\(AnnouncedText.printable(name))'"
            case .collision(let taken, let trying):
                "another room is called '\(AnnouncedText.printable(taken))'; trying '\(AnnouncedText.printable(trying))'"
            case .unavailable(let reason): reason.description
            case .stopped: "the room is not announced any more"
            }
        }
    }

    private let room: AdvertisedRoom
    private let loop: AvahiLoop

    /// Starts announcing.
    /// - Parameters:
    ///   - name: the room's name: 1 to 63 bytes of UTF-8, without control characters.
    ///   - port: the TCP port of the room's signalling.
    /// - Throws: ``DiscoveryError/invalidName(_:)``. ``state`` reports later errors.
    public init(name: String, port: UInt16, announcement: RoomAnnouncement) throws(DiscoveryError) {
        guard (1...AnnouncedText.maximumSize).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .invalidName(name) }
        let room = AdvertisedRoom(name: name, port: port, announcement: announcement)
        self.room = room
        loop = AvahiLoop { AdvertiserWork(room) }
    }

    deinit { loop.stop() }

    /// The current state.
    public var state: State { room.state.current }

    /// Returns a stream of the current state and each change.
    public func states() -> AsyncStream<State> { room.state.stream() }

    /// The announcement; a change is announced at once.
    public var announcement: RoomAnnouncement {
        get { room.announcement.withLock { $0 } }
        set {
            room.announcement.withLock { $0 = newValue }
            loop.wake()
        }
    }

    /// Withdraws the room. Returns when the daemon has confirmed it, or after a second.
    public func stop() {
        loop.stop()
        room.state.set(.stopped)
    }
}

/// The announcement and its state, shared by the callers and the thread.
final class AdvertisedRoom: Sendable {
    let name: String
    let port: UInt16
    let announcement: Mutex<RoomAnnouncement>
    let state = CurrentValue(RoomAdvertiser.State.starting)

    init(name: String, port: UInt16, announcement: RoomAnnouncement) {
        self.name = name
        self.port = port
        self.announcement = Mutex(announcement)
    }
}
