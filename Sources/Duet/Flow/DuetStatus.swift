// SPDX-License-Identifier: Apache-2.0

/// The state of a duet at an instant.
package struct DuetStatus<Member: Hashable & Comparable & Sendable>: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// The host has chosen no song.
        case noSong
        /// The song's file is missing here.
        case gettingSong
        /// The singers agree to the attempt.
        case agreeing
        /// All have agreed. The group's time is not known here yet.
        case findingTime
        /// The song begins after so many seconds.
        case counting(Double)
        case singing
        case paused
        /// The mix plays.
        case listening
        /// The attempt is over.
        case ended

        /// True from the count-in to the song's end.
        package var isSong: Bool {
            switch self {
            case .counting, .singing, .paused: true
            case .noSong, .gettingSong, .agreeing, .findingTime, .listening, .ended: false
            }
        }

        /// True from the song's end on.
        package var isOver: Bool { self == .ended || self == .listening }
    }

    /// Another singer.
    package struct Singer: Hashable, Sendable {
        package var member: Member
        /// True if the singer has agreed to the attempt.
        package var hasAgreed = false
        /// True if the singer cannot record the attempt.
        package var cannotRecord = false
        /// True if the singer has begun the attempt by singing again.
        package var hasBegun = false
        /// False if the singer only listens in this attempt.
        package var sings = true
        /// The part that the singer has, 1 or 2; nil if it has none, and with an earlier program.
        package var part: Int?
        /// True if the singer is in the same room, and heard through the air.
        package var isNearby = false
        /// The singer's last stem, which names its attempt; nil before the first.
        package var stem: DuetStem?
    }

    package var phase = Phase.noSong
    package var song: DuetSong?
    /// The phase of those who have agreed to the attempt; nil before it begins, and if the local singer is one of them, or was.
    package var phaseOfOthers: Phase?
    /// The number of the attempt, from 1.
    package var attempt: UInt32 = 1
    /// The number of the attempt among those of the song, from 1.
    package var take: UInt32 {
        guard let first = song?.firstAttempt, first <= attempt else { return attempt }
        return attempt - first + 1
    }
    /// The random number of the attempt; nil if a program without such numbers has begun it.
    package var attemptID: UInt64?
    /// The mode of the attempt; nil until it is decided.
    package var mode: DuetMode<Member>?
    /// The local singer.
    package var own: Member?
    /// False if the local singer only listens in this attempt.
    package var sings = true
    /// The part that the local singer has, 1 or 2; nil before it is chosen.
    package var part: Int?
    /// The part that nobody has; nil if both are taken, or none.
    package var freePart: Int? {
        let taken = Set(([part] + singers.map(\.part)).compactMap(\.self))
        return taken.count == 1 ? taken.first.map(DuetPart.other) : nil
    }
    /// True if the singers take turns.
    package var isInTurn: Bool { if case .inTurn? = mode { true } else { false } }
    /// The attempt whose voices this one keeps; nil for none.
    package var keptAttempt: UInt32?
    /// The number of the last change of the playback.
    package var revision: UInt32 = 0
    /// The other singer who made that change; nil for the local one, and if it is not known.
    package var changer: Member?
    /// The seconds of the song from which it went on after that change.
    package var changedPosition = 0.0
    /// The seconds of the song that have been played; 0 before the start.
    package var position = 0.0
    /// True if the local singer has agreed to the attempt.
    package var hasAgreed = false
    /// True if the local singer has left the attempt, to which nobody can agree again.
    package var hasLeft = false
    /// The other singers, in their order.
    package var singers: [Singer] = []

    package init() {}

    /// True while nobody plays the song.
    package var isQuiet: Bool {
        switch phaseOfOthers ?? phase {
        case .noSong, .gettingSong, .agreeing, .findingTime, .paused, .ended: true
        case .counting, .singing, .listening: false
        }
    }
}
