// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The reason that a command of a duet was not executed. Nothing changed.
package enum DuetRefusal: Error, Hashable, Sendable {
    /// Only the host chooses the song.
    case notHost
    /// The host has chosen no song.
    case noSong
    /// The song's file is not here yet.
    case songMissing
    /// The attempt has not begun.
    case notStarted
    /// The attempt has begun, so its mode stays.
    case started
    /// The song plays, or is paused, so it cannot be exchanged.
    case songPlays
    /// The singers do not take turns.
    case notInTurn
    /// The member sings no duet, or has an earlier program.
    case noSinger
    /// The group's time is not known yet.
    case noTime
    /// The local singer has left the attempt. A new one may begin.
    case attemptOver
    /// The mix is not ready.
    case mixMissing
    /// The song has no guide vocal.
    case noGuide
    /// The mix has no such voice.
    case noVoice(String)
    /// The folder for the takes cannot be written; an errno.
    case folder(path: String, code: Int32)
    /// The folder for the takes has too little free space; in bytes.
    case noSpace(path: String, needed: Int64, free: Int64)
}

/// Commands of the local singer.
extension DuetCore {
    /// Chooses a song whose files are here, or a beat, and begins a new attempt. It replaces a song that does not play.
    /// - Parameter id: the random number of the attempt.
    package mutating func choose(_ song: DuetSong, id: UInt64? = nil, at now: HostTime) throws(DuetRefusal) {
        try checkChoice(at: now)
        var song = song
        let isFirst = transport.revision == 0
        song.firstAttempt = isFirst ? nil : nextAttempt
        (presentSong, presentGuide) = (song.hash, song.guide?.hash)
        setSong(song)
        transport.forgetMode()
        beginAttempt(id)
    }

    /// Refuses another song while the local member is not the host, and from the start of the playback to the song's end.
    package func checkChoice(at now: HostTime) throws(DuetRefusal) {
        guard host == own || host == nil else { throw .notHost }
        guard let song, transport.state == .playing || transport.state == .paused else { return }
        switch playbackPhase(of: song, at: group.groupTime(at: now)?.time) {
        case .ended: return
        default: throw .songPlays
        }
    }

    /// Notes that the song's file is here; nil if it is not.
    package mutating func setPresentSong(_ hash: String?) {
        presentSong = hash
        nextMessage = nil
    }

    /// Notes that the guide vocal's file is here; nil if it is not.
    package mutating func setPresentGuide(_ hash: String?) {
        presentGuide = hash
        nextMessage = nil
    }

    /// Notes that the transfer of the guide vocal's file to a member has ended, with or without success.
    package mutating func guideTransferEnded(to member: Member, at now: HostTime) {
        guard guideSendings[member] != nil else { return }
        guideSendings[member] = now.advanced(bySeconds: Self.retryTime)
    }

    /// Notes that the transfer of the song's file to a member has ended, with or without success.
    package mutating func songTransferEnded(to member: Member, at now: HostTime) {
        guard sendings[member] != nil else { return }
        sendings[member] = now.advanced(bySeconds: Self.retryTime)
    }

    /// Announces the stem of an attempt.
    package mutating func setStem(_ stem: DuetStem) {
        self.stem = stem
        nextMessage = nil
    }

    /// Notes that the mix of an attempt is here.
    package mutating func setMix(_ attempt: UInt32) { mix = attempt }

    /// Plays the mix of the attempt for all, or ends it. A member whose mix is not ready joins in place.
    package mutating func listen(_ listens: Bool, at now: HostTime) throws(DuetRefusal) {
        let time = try commandTime(at: now)
        guard listens else {
            guard transport.state == .listening else { return }
            // Beyond the recording's end, so that nothing is recorded again.
            let end = (song?.duration ?? 0) + Self.tail + Self.commandTime
            return change(to: .playing, position: Self.nanoseconds(end), at: time)
        }
        guard mix == transport.attempt else { throw .mixMissing }
        change(to: .listening, position: 0, at: time)
    }

    /// Agrees to sing the attempt, and to its recording, or takes the agreement back.
    package mutating func agree(_ agrees: Bool = true) throws(DuetRefusal) {
        guard let song else { throw .noSong }
        guard presentSong == song.hash else { throw .songMissing }
        if agrees, finishedAttempt == transport.attempt { throw .attemptOver }
        agreement = agrees ? transport.attempt : nil
        nextMessage = nil
    }

    /// Leaves an attempt that cannot be recorded here, and tells the others.
    package mutating func leaveUnrecorded(_ attempt: UInt32) {
        guard attempt == transport.attempt else { return }
        (agreement, unrecorded, recordedAttempt, finishedAttempt) = (nil, attempt, nil, attempt)
        nextMessage = nil
    }

    package mutating func pause(at now: HostTime) throws(DuetRefusal) {
        let time = try commandTime(at: now)
        guard transport.state == .playing else { return }
        change(to: .paused, position: Self.nanoseconds(transport.position(at: time)), at: time)
    }

    package mutating func resume(at now: HostTime) throws(DuetRefusal) {
        let time = try commandTime(at: now)
        guard transport.state == .paused else { return }
        change(to: .playing, position: transport.position, at: counted(time, from: transport.position))
    }

    /// Continues at a position in seconds, clamped to the song. A paused song stays paused.
    package mutating func seek(to position: Double, at now: HostTime) throws(DuetRefusal) {
        let time = try commandTime(at: now)
        guard transport.state != .listening else { return }
        let last = max(0, (song?.duration ?? 0) - 0.1)
        let nanoseconds = Self.nanoseconds(max(0, min(last, position)))
        change(to: transport.state, position: nanoseconds, at: counted(time, from: nanoseconds))
    }

    /// Begins a new attempt, to which all singers must agree.
    /// - Parameter id: the random number of the attempt.
    package mutating func singAgain(id: UInt64? = nil) throws(DuetRefusal) {
        guard let song else { throw .noSong }
        guard presentSong == song.hash else { throw .songMissing }
        beginAttempt(id)
        begun = transport.attempt
    }

    private mutating func beginAttempt(_ id: UInt64?) {
        transport.attempt = nextAttempt
        transport.id = id
        // The stem of the last attempt may still be on its way.
        (agreement, mix) = (nil, nil)
        change(to: .waiting, position: 0, at: HostTime(nanoseconds: 0))
    }

    /// The number of an attempt that begins now.
    private var nextAttempt: UInt32 {
        transport.revision == 0 || transport.attempt == .max ? 1 : transport.attempt + 1
    }

    /// Returns the group's time at which a command takes effect.
    private func commandTime(at now: HostTime) throws(DuetRefusal) -> HostTime {
        guard song != nil else { throw .noSong }
        guard transport.state != .waiting else { throw .notStarted }
        guard let time = group.groupTime(at: now)?.time else { throw .noTime }
        return time.advanced(bySeconds: Self.commandTime)
    }

    /// Returns the time of a position to be played from a time on: later by the count-in if it is the song's beginning.
    private func counted(_ time: HostTime, from position: Int64) -> HostTime {
        time.advanced(bySeconds: position == 0 ? song?.countIn.countInTime ?? 0 : 0)
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 { Int64((max(0, seconds) * 1e9).rounded()) }
}

/// The state for faces and for the player.
extension DuetCore {
    package func status(at now: HostTime) -> DuetStatus<Member> {
        var status = DuetStatus<Member>()
        (status.song, status.attempt, status.attemptID) = (song, transport.attempt, transport.id)
        (status.mode, status.own, status.sings, status.part) = (mode, own, sings(singer), part)
        if transport.isInTurn == true { status.keptAttempt = transport.kept }
        status.hasAgreed = agreement == transport.attempt
        status.hasLeft = agreement == nil && finishedAttempt == transport.attempt
        (status.revision, status.changedPosition) = (transport.revision, Double(transport.position) * 1e-9)
        status.changer = transport.changer.flatMap { number in others.first { $0.value.message.singer == number }?.key }
        let nearby = nearbyMembers
        status.singers = others.sorted { $0.key < $1.key }.map { member, other in
            let message = other.message
            return .init(
                member: member, hasAgreed: message.agreement == transport.attempt,
                cannotRecord: message.unrecorded == transport.attempt,
                hasBegun: message.begun == transport.attempt, sings: sings(message.singer), part: message.part,
                isNearby: nearby.contains(member), stem: message.stem)
        }
        let time = group.groupTime(at: now)?.time
        status.phase = phase(at: time)
        if let song, transport.state != .waiting, agreement != transport.attempt, finishedAttempt != transport.attempt {
            status.phaseOfOthers = playbackPhase(of: song, at: time)
        }
        if let song, let time { status.position = max(0, min(song.duration, position(at: time))) }
        return status
    }

    private func phase(at time: HostTime?) -> DuetStatus<Member>.Phase {
        guard let song else { return .noSong }
        guard presentSong == song.hash else { return .gettingSong }
        guard transport.state != .waiting, agreement == transport.attempt else { return .agreeing }
        return playbackPhase(of: song, at: time)
    }

    private func playbackPhase(of song: DuetSong, at time: HostTime?) -> DuetStatus<Member>.Phase {
        guard let time else { return .findingTime }
        let position = position(at: time)
        if position >= song.duration { return .ended }
        if transport.state == .listening { return .listening }
        guard transport.state == .playing else { return .paused }
        return position < 0 ? .counting(-position) : .singing
    }

    /// Returns the seconds of the song that should leave the loudspeaker at a local time; nil while it does not play.
    package func duePosition(at local: HostTime) -> Double? {
        guard transport.isMoving, appliedTransport == transport,
            let time = group.groupTime(at: local)?.time
        else { return nil }
        return position(at: time)
    }

    /// The seconds of the group's time per second of the local clock, less 1; nil while the group's time is unknown.
    package func groupRate(at local: HostTime) -> Double? {
        guard let time = group.groupTime(at: local)?.time,
            let later = group.groupTime(at: local.advanced(bySeconds: 1))?.time
        else { return nil }
        return later.seconds(since: time) - 1
    }
}
