// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The playback of a duet's song, as all singers should have it: a position at an instant of the group's time.
package struct DuetTransport: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        /// The attempt has not begun: the singers must agree first.
        case waiting
        case playing
        case paused
        /// The mix of the attempt plays in place of the song.
        case listening
    }

    /// Increases with each change. It wraps, so that no revision is the last one.
    package var revision: UInt32 = 0
    /// The number of the attempt, from 1.
    package var attempt: UInt32 = 1
    /// A random number of the attempt, by which a program that comes back finds its earlier take; nil from an earlier program.
    package var id: UInt64?
    /// The random number of the singer who leads, or ``noLeader``; nil until the mode is decided.
    var leader: UInt64?
    /// True if only the leader sings; nil otherwise.
    var isInTurn: Bool?
    /// The attempt whose voices the singer of a turn hears, and which are mixed with this one; nil for none.
    var kept: UInt32?
    package var state = State.waiting
    /// The position in the song in nanoseconds.
    package var position: Int64 = 0
    /// The group's time of the position in nanoseconds.
    package var time: Int64 = 0
    /// The random number of the singer who made the last change; nil from an earlier program.
    var changer: UInt64?

    private enum CodingKeys: String, CodingKey {
        case revision, attempt, id, leader, isInTurn = "inTurn", kept = "keeps", state, position, time, changer = "by"
    }

    package init() {}

    /// Sets the leader, or ``noLeader``.
    mutating func setLeader(_ leader: UInt64, isInTurn: Bool = false) {
        (self.leader, self.isInTurn) = (leader, isInTurn ? true : nil)
        if !isInTurn { kept = nil }
    }

    /// Leaves the mode undecided.
    mutating func forgetMode() { (leader, isInTurn, kept) = (nil, nil, nil) }

    /// True if the mode is that of another transport.
    func hasMode(of other: DuetTransport) -> Bool {
        leader ?? Self.noLeader == other.leader ?? Self.noLeader && isInTurn == other.isInTurn
    }

    /// False for numbers that no transport has.
    var isValid: Bool {
        position >= 0 && Double(position) * 1e-9 <= Self.latestPosition && attempt > 0
            && id ?? 0 <= Self.largestID && leader ?? 0 <= Self.largestID && changer ?? 0 <= Self.largestID && kept != 0
    }

    /// The value of ``leader`` for singers who sing together.
    static let noLeader: UInt64 = 0

    /// The largest number of an attempt or a singer: each JSON reader has integers of 53 bits.
    static let largestID: UInt64 = (1 << 53) - 1

    /// Returns a number for a new attempt, or for a singer.
    package static func randomID() -> UInt64 { .random(in: 1...largestID) }

    /// The latest position in seconds, which is beyond the end of the longest song.
    static let latestPosition = DuetSong.longestDuration + 10

    /// True while the position advances.
    var isMoving: Bool { state == .playing || state == .listening }

    /// The instant of the position, on the group's clock.
    var groupTime: HostTime { HostTime(nanoseconds: time) }

    /// Returns the position in seconds at an instant of the group's time; negative before the start.
    func position(at group: HostTime) -> Double {
        let position = Double(position) * 1e-9
        return isMoving ? position + group.seconds(since: groupTime) : position
    }

    /// Returns true if this change counts, and not the other one. All members decide alike.
    func supersedes(_ other: DuetTransport) -> Bool {
        guard revision == other.revision else { return Int32(bitPattern: revision &- other.revision) > 0 }
        // Two members changed the transport at once.
        let (turn, otherTurn) = (isInTurn == true ? 1 : 0, other.isInTurn == true ? 1 : 0)
        let (first, second) = ((attempt, time, position), (other.attempt, other.time, other.position))
        guard first == second else { return first > second }
        return (state.rawValue, id ?? 0, leader ?? 0, turn, kept ?? 0, changer ?? 0)
            > (other.state.rawValue, other.id ?? 0, other.leader ?? 0, otherTurn, other.kept ?? 0, other.changer ?? 0)
    }
}
