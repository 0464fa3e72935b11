// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Announces a room on the networks of this machine, by DNS-SD over Avahi, until it is stopped or freed.
///
/// If another room has the name, it takes the next (`Song #2`) and reports it. When the daemon is started again it announces again.
/// It has a thread, `discovery`; members are for any other, and wait for nothing unless they say so.
public final class RoomAdvertiser: Sendable {
    /// The state of an advertiser.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// The daemon is asked, or looks whether the name is free: a second or so.
        case starting
        /// Everybody near can see it, under this name.
        case advertising(name: String)
        /// The name is taken; the next one is tried.
        case collision(taken: String, trying: String)
        /// The room is not announced now; announcing resumes when the daemon runs.
        case unavailable(DiscoveryError)
        /// It was withdrawn.
        case stopped

        /// One line for the user.
        public var description: String {
            switch self {
            case .starting: "announcing the room"
            case .advertising(let name): "others near find the room as '\(AnnouncedText.printable(name))'"
            case .collision(let taken, let trying):
                "another room is called '\(AnnouncedText.printable(taken))'; trying '\(AnnouncedText.printable(trying))'"
            case .unavailable(let reason): reason.description
            case .stopped: "the room is not announced any more"
            }
        }
    }

    private let room: AdvertisedRoom
    private let loop: AvahiLoop

    /// Begins to announce.
    /// - Parameters:
    ///   - name: the room's: 1 to 63 bytes of UTF-8, with no control character.
    ///   - port: the TCP port of its signalling.
    /// - Throws: ``DiscoveryError/invalidName(_:)``. All else is a ``state``.
    public init(name: String, port: UInt16, announcement: RoomAnnouncement) throws(DiscoveryError) {
        guard (1...AnnouncedText.maximumSize).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .invalidName(name) }
        let room = AdvertisedRoom(name: name, port: port, announcement: announcement)
        self.room = room
        loop = AvahiLoop { AdvertiserWork(room) }
    }

    deinit { loop.stop() }

    /// The present state.
    public var state: State { room.state.current }

    /// Returns the present state, and each change of it.
    public func states() -> AsyncStream<State> { room.state.stream() }

    /// The announcement; a change is announced at once.
    public var announcement: RoomAnnouncement {
        get { room.announcement.withLock { $0 } }
        set {
            room.announcement.withLock { $0 = newValue }
            loop.wake()
        }
    }

    /// Withdraws the room. Returns when the daemon has confirmed, or after a second.
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
