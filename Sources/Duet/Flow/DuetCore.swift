// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync

/// The agreement of a room's members to sing a song together: who has the song, who is ready, and the playback at instants of the
/// group's time. A sans-IO value. Equal inputs give equal outputs.
///
/// The host chooses the song. Any member may pause, seek and begin a new attempt; the last change counts. Each member announces its
/// state to all, so lost messages need no repetition. A member that comes back joins in place.
package struct DuetCore<Member: Hashable & Comparable & Sendable>: Sendable {
    /// An output, to be executed in order.
    package enum Action: Hashable, Sendable {
        /// Sends a message to all members. It may be lost.
        case send([UInt8])
        /// Sends the song's file to a member that lacks it.
        case sendSong(to: Member)
        /// Sends the file of the song's guide vocal to a member that lacks it.
        case sendGuide(to: Member)
        /// The song is this one from now on.
        case setSong(DuetSong)
        /// Plays from so many seconds on; negative for a count-in.
        case play(from: Double, at: HostTime)
        /// Plays the mix of the attempt from so many seconds on.
        case playMix(from: Double, at: HostTime)
        /// Moves the start of the last order to play, unless it was due.
        case moveStart(to: HostTime)
        case pause(at: HostTime)
        /// Records the attempt.
        case record(attempt: UInt32)
        /// Awaits the voice of another singer, whose turn the attempt is.
        case awaitVoice(attempt: UInt32)
        case finishRecording(attempt: UInt32)
    }

    /// Seconds between two announcements.
    static var interval: Double { 0.25 }
    /// Seconds without a message after which a member no longer counts as a singer.
    static var silence: Double { 3 }
    /// Seconds from the agreement to the count-in, so that each member knows it in time and finds the group's time.
    static var leadTime: Double { 1.5 }
    /// Seconds from a command to its instant, so that each member knows it in time.
    static var commandTime: Double { 0.5 }
    /// Seconds by which a start may be off without being moved: a frame of a device.
    static var startTolerance: Double { 20e-6 }
    /// Seconds that a player needs to play a position.
    static var preparation: Double { 0.3 }
    /// Seconds before a start in which it is not moved. The device needs most of them.
    static var finalTime: Double { 0.1 }
    /// Seconds for which the recording goes on after the song: the latencies of a device.
    static var tail: Double { 1 }
    /// Seconds between two messages of a member that are read. The next one makes up for an ignored one.
    static var shortestInterval: Double { 0.01 }
    /// Seconds for which a member may look for the song's file before it is sent.
    static var lookingTime: Double { 1 }
    /// Seconds between two songs of the host. Each makes the others look for a file.
    static var songInterval: Double { 1 }
    /// Seconds until a song's file is sent again to a member that still lacks it.
    static var retryTime: Double { 5 }

    struct Other: Sendable {
        var message: DuetMessage
        var time: HostTime
    }

    private(set) package var own: Member
    /// The random number of the local singer.
    let singer: UInt64
    var group: GroupClock<Member>
    var host: Member?
    var members: Set<Member> = []
    var others: [Member: Other] = [:]
    private var lastReceipts: [Member: HostTime] = [:]
    package internal(set) var song: DuetSong?
    /// The time of the host's last song; nil before the first.
    private var songTime: HostTime?
    var transport = DuetTransport()
    /// The hash of the file that is here.
    var presentSong: String?
    /// The hash of the guide vocal that is here.
    package internal(set) var presentGuide: String?
    /// The part that the local singer has, 1 or 2; nil before it is chosen.
    var part: Int?
    /// The last change of parts, of all singers.
    var partChange: UInt8 = 0
    /// The time since which a guest has heard of the host's song; nil before.
    var partStart: HostTime?
    var agreement: UInt32?
    /// The last attempt that cannot be recorded here.
    var unrecorded: UInt32?
    /// The last attempt that the local singer has begun by singing again.
    var begun: UInt32?
    var stem: DuetStem?
    /// The attempt of which the mix is here.
    var mix: UInt32?
    /// The transport that the player follows; nil for none.
    var appliedTransport: DuetTransport?
    /// True after an order to play.
    private var isPlayerOn = false
    /// The start of the last order to play, and the group's time of it.
    private var playTime = HostTime(nanoseconds: 0)
    private var playGroupTime = HostTime(nanoseconds: 0)
    /// The jumps of the group's time that the player has followed.
    private var jumpCount = 0
    /// The attempt that is being recorded.
    var recordedAttempt: UInt32?
    /// The last attempt whose recording has ended. It is not recorded again.
    var finishedAttempt: UInt32?
    /// The members that lack the song's file, and the time from which on it is sent; nil while it is being sent.
    var sendings: [Member: HostTime?] = [:]
    /// The same of the guide vocal's file.
    var guideSendings: [Member: HostTime?] = [:]
    /// The seconds from each member's mouth to this one's ear.
    var delays: [Member: Double] = [:]
    /// The sound of the local room, which the messages tell.
    var room = DuetMessage.Room()
    /// The time since which the host has looked for a mode.
    var modeTime: HostTime?
    /// Seconds by which the local song follows the leader's.
    private(set) var lag = 0.0
    var nextMessage: HostTime?
    var actions: [Action] = []

    /// - Parameter singer: a random number, by which others know the local singer when the room numbers its members anew.
    package init(own: Member, singer: UInt64) {
        self.own = own
        self.singer = singer
        group = GroupClock(own: own)
    }

    /// Continues a duet under another number in the room, with the song, the agreement and the files. The group's time is unknown.
    package init(own: Member, continuing old: Self) {
        self = old
        self.own = own
        group = GroupClock(own: own)
        (members, others, lastReceipts, delays) = ([], [:], [:], [:])
        (sendings, guideSendings) = ([:], [:])
        (appliedTransport, jumpCount, nextMessage) = (nil, 0, nil)
    }

    /// True if there is a duet: a song here, or another singer.
    package var isActive: Bool { song != nil || !others.isEmpty }

    /// Sets the members of the room, with or without this one, and the host.
    package mutating func setMembers(_ members: Set<Member>, host: Member?) {
        guard members != self.members || host != self.host else { return }
        (self.members, self.host) = (members, host)
        others = others.filter { members.contains($0.key) }
        lastReceipts = lastReceipts.filter { members.contains($0.key) }
        sendings = sendings.filter { members.contains($0.key) }
        guideSendings = guideSendings.filter { members.contains($0.key) }
        delays = delays.filter { members.contains($0.key) }
        group.setMembers(members, host: host)
    }

    /// Sets the present estimate of a member's clock; nil for none.
    package mutating func setClock(_ clock: PeerClock?, of member: Member) { group.setClock(clock, of: member) }

    /// Notes that the machine slept: the group's time is unknown. The player is behind the others, so it stops.
    package mutating func slept() {
        group.slept()
        appliedTransport = nil
        stopPlayer(at: HostTime(nanoseconds: 0))
    }

    /// Reads a message of a member. Ignores those of others, and what is no message.
    package mutating func receive(_ bytes: [UInt8], from member: Member, at now: HostTime) {
        guard members.contains(member), member != own,
            lastReceipts[member].map({ now.seconds(since: $0) >= Self.shortestInterval }) ?? true
        else { return }
        lastReceipts[member] = now
        guard let message = DuetMessage(bytes) else { return }
        others[member] = Other(message: message, time: now)
        swapPart(for: message)
        if let clock = message.clock { group.receive(GroupAnnouncement(clock), from: member) }
        // A member that has become the host announces the song from then on.
        if member == host, let new = message.song, new != song,
            songTime.map({ now.seconds(since: $0) >= Self.songInterval }) ?? true
        {
            songTime = now
            setSong(new)
        }
        if let other = message.transport, other.supersedes(transport) { replaceTransport(by: other) }
    }

    /// Does what is due. Call this every 50 ms.
    package mutating func tick(at now: HostTime) -> [Action] {
        others = others.filter { now.seconds(since: $0.value.time) < Self.silence }
        if isActive {
            group.followsAtOnce = !isHeard(at: now)
            let announcement = group.tick(at: now)
            if group.jumpCount != jumpCount { (jumpCount, appliedTransport) = (group.jumpCount, nil) }
            choosePart(at: now)
            proposeMode(at: now)
            startIfAgreed(at: now)
            follow(at: now)
            sendFiles(at: now)
            announce(announcement, at: now)
        }
        defer { actions = [] }
        return actions
    }

    mutating func setSong(_ new: DuetSong) {
        // The recording of the earlier song ends. Its stem is announced further, since it may still be on its way.
        finishRecording()
        song = new
        (sendings, guideSendings) = ([:], [:])
        (agreement, mix, appliedTransport, finishedAttempt) = (nil, nil, nil, nil)
        (unrecorded, begun) = (nil, nil)
        if new.isBeat { presentSong = new.hash }
        isPlayerOn = false
        actions.append(.setSong(new))
    }

    /// The host starts the attempt when all singers have agreed to it.
    private mutating func startIfAgreed(at now: HostTime) {
        guard host == own, let song, transport.state == .waiting, presentSong == song.hash, !others.isEmpty,
            mode != nil,
            agreement == transport.attempt, let time = group.groupTime(at: now)?.time,
            others.values.allSatisfy({
                $0.message.presentSong == song.hash && $0.message.agreement == transport.attempt
            })
        else { return }
        change(to: .playing, position: 0, at: time.advanced(bySeconds: Self.leadTime + song.countIn.countInTime))
    }

    mutating func change(to state: DuetTransport.State, position: Int64, at time: HostTime) {
        transport.revision &+= 1
        (transport.state, transport.position, transport.time) = (state, position, time.nanoseconds)
        transport.changer = singer
        nextMessage = nil
    }

    /// Brings the player and the recording to the state of the transport.
    private mutating func follow(at now: HostTime) {
        guard let song, presentSong == song.hash, agreement == transport.attempt, transport.state != .waiting else {
            finishRecording()
            return stopPlayer(at: now)
        }
        guard let time = group.groupTime(at: now)?.time else { return }
        apply(song, at: now)
        let isOver = position(at: time) >= song.duration + Self.tail
        if recordedAttempt != transport.attempt || isOver || transport.state == .listening { finishRecording() }
        if transport.state == .playing, !isOver, recordedAttempt == nil, finishedAttempt != transport.attempt {
            recordedAttempt = transport.attempt
            let attempt = transport.attempt
            actions.append(sings(singer) ? .record(attempt: attempt) : .awaitVoice(attempt: attempt))
        }
    }

    /// True from shortly before the player's sound on.
    private func isHeard(at now: HostTime) -> Bool {
        isPlayerOn && now >= playTime.advanced(bySeconds: -Self.finalTime)
    }

    /// Gives the player the order of the transport. A player that has it gets better times of its start.
    private mutating func apply(_ song: DuetSong, at now: HostTime) {
        guard appliedTransport != transport else { return moveStart(at: now) }
        let countInTime = transport.state == .playing && transport.position == 0 ? song.countIn.countInTime : 0
        switch transport.state {
        case .playing: lag = leaderDelay
        case .listening, .waiting: lag = 0
        case .paused: break  // the leader's pause is heard as late as the leader
        }
        guard let start = group.localTime(at: transport.groupTime.advanced(bySeconds: lag - countInTime)),
            transport.state != .listening || mix == transport.attempt
        else { return }
        if transport.isMoving { return play(song, from: -countInTime, start, at: now) }
        appliedTransport = transport
        stopPlayer(at: max(now, start))
    }

    /// Moves a start that is not near by the present estimate of the group's time.
    private mutating func moveStart(at now: HostTime) {
        guard isPlayerOn, !isHeard(at: now), let start = group.localTime(at: playGroupTime),
            abs(start.seconds(since: playTime)) > Self.startTolerance
        else { return }
        playTime = start
        actions.append(.moveStart(to: start))
    }

    private mutating func stopPlayer(at time: HostTime) {
        guard isPlayerOn else { return }
        isPlayerOn = false
        actions.append(.pause(at: time))
    }

    /// - Parameter first: the earliest position, due at `start` unless the transport has a later one.
    private mutating func play(_ song: DuetSong, from first: Double, _ start: HostTime, at now: HostTime) {
        let earliest = now.advanced(bySeconds: Self.preparation)
        let time = max(start, earliest)
        // A member that learns of the start late joins in place, as soon as it knows the time well. If the song plays, the order is due
        // at once, because the player has converted only half a second of what it plays.
        guard isPlayerOn || start > earliest || group.isSettled(at: time),
            let group = group.groupTime(at: time)?.time
        else { return }
        appliedTransport = transport
        let position = position(at: group)
        guard position < song.duration else { return stopPlayer(at: now) }
        (isPlayerOn, playTime, playGroupTime) = (true, time, group)
        let seconds = max(first, position)
        actions.append(
            transport.state == .listening ? .playMix(from: seconds, at: time) : .play(from: seconds, at: time))
    }

    private mutating func finishRecording() {
        guard let attempt = recordedAttempt else { return }
        (recordedAttempt, finishedAttempt) = (nil, attempt)
        actions.append(.finishRecording(attempt: attempt))
    }

    /// Sends a member the song's file, and then that of the guide vocal.
    private mutating func sendFiles(at now: HostTime) {
        guard host == own, let song, !song.isBeat, presentSong == song.hash else { return }
        for (member, other) in others.sorted(by: { $0.key < $1.key }) {
            if other.message.presentSong != song.hash {
                if Self.isDue(member, &sendings, at: now) { actions.append(.sendSong(to: member)) }
            } else if other.message.hasGuide == false, let guide = song.guide, presentGuide == guide.hash {
                if Self.isDue(member, &guideSendings, at: now) { actions.append(.sendGuide(to: member)) }
            }
        }
    }

    /// Returns true if a file should be sent to a member that lacks it, and notes that it is being sent.
    private static func isDue(_ member: Member, _ sendings: inout [Member: HostTime?], at now: HostTime) -> Bool {
        let due = sendings[member] ?? .some(now.advanced(bySeconds: lookingTime))
        sendings[member] = .some(due)
        guard let due, due <= now else { return false }
        sendings[member] = .some(nil)
        return true
    }

    private mutating func announce(_ announcement: GroupAnnouncement?, at now: HostTime) {
        guard announcement != nil || nextMessage.map({ $0 <= now }) ?? true else { return }
        nextMessage = now.advanced(bySeconds: Self.interval)
        var message = DuetMessage()
        message.singer = singer
        message.clock = announcement.map { DuetMessage.Clock($0) }
        if host == own { message.song = song }
        (message.transport, message.presentSong) = (transport, presentSong)
        message.hasGuide = song?.guide.map { $0.hash == presentGuide }
        (message.agreement, message.unrecorded, message.stem) = (agreement, unrecorded, stem)
        (message.begun, message.room, message.part) = (begun, room, part)
        if part != nil, partChange != 0 { message.partChange = partChange }
        if let bytes = message.fittingBytes { actions.append(.send(bytes)) }
    }
}
