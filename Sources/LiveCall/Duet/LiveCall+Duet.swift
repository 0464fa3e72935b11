// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotNearby
import EarshotRooms

/// An order of the local singer.
package enum DuetOrder: Hashable, Sendable {
    /// Chooses the file of the next song, as the host, with the beat of its count-in; nil if unknown.
    case chooseSong(path: String, beat: Beat?)
    /// Agrees to sing the attempt, and to its recording, or takes the agreement back.
    case agree(Bool)
    case pause
    case resume
    /// Continues at a position in seconds.
    case seek(to: Double)
    /// Begins a new attempt. The last one stays.
    case singAgain
    /// Chooses the mode of the attempt before it begins.
    case setMode(DuetMode<MemberID>)
    /// Chooses the local singer's part before the song, 1 or 2. Of two singers, the other one takes the part that becomes free.
    case setPart(Int)
    /// Begins the turn of the next singer, whose attempt keeps the voices of this one.
    case nextTurn
    /// Plays the mix of the attempt for all, or ends it.
    case listen(Bool)
    /// Sets the level of the guide vocal, 0 to 1, for the local singer alone.
    case setGuide(gain: Float)
    /// Makes the mix of the attempt again with a preset, for the local singer alone.
    case mix(MixPreset)
    /// Makes the mix of the attempt again with a voice, or the song, at other decibels, for the local singer alone.
    case balance(voice: String, decibels: Float)
}

/// The duet of a call. Any thread except a render thread.
extension LiveCall {
    /// The state of the duet; nil while there is none.
    package var duetStatus: LiveDuetStatus? { duet.withLock { $0.status(at: .now()) } }

    /// Chooses the song of the duet, which ``SongFile`` has described. The host's choice takes effect as soon as the call is in a
    /// room. It replaces a song that does not play.
    /// - Parameters:
    ///   - path: the path of the song's file; nil for a beat.
    ///   - guidePath: the path of its guide vocal; nil without one.
    package func choose(_ song: DuetSong, path: String?, guidePath: String? = nil) {
        var song = song
        if !configuration.announcesSong { song.isHidden = true }
        duet.withLock { $0.chosen = DuetSound(song, path: path).map { (song, $0, guidePath) } }
    }

    /// Executes an order, or refuses it without a change.
    package func perform(_ order: DuetOrder) throws(DuetRefusal) {
        try checkTakeFolder(for: order)
        try duet.withLock { duet throws(DuetRefusal) in
            let now = HostTime.now()
            guard duet.core != nil else { throw .noSong }
            switch order {
            case .chooseSong: try duet.core?.checkChoice(at: now)
            case .agree(let agrees): try duet.core?.agree(agrees)
            case .pause: try duet.core?.pause(at: now)
            case .resume: try duet.core?.resume(at: now)
            case .seek(let position): try duet.core?.seek(to: position, at: now)
            case .listen(let listens): try duet.core?.listen(listens, at: now)
            case .mix(let preset): try duet.mixAgain(at: now) { $0.preset = preset }
            case .balance(let voice, let decibels):
                let time = now.advanced(bySeconds: LiveDuet.balancingTime)
                try duet.mixAgain(at: time) { (files) throws(DuetRefusal) in
                    guard files.balance.setDecibels(decibels, of: voice) else { throw .noVoice(voice) }
                }
            case .setPart(let part): try duet.core?.setPart(part)
            case .setGuide(let gain): try duet.setGuideGain(gain)
            case .setMode(let mode): try duet.core?.setMode(mode)
            case .nextTurn:
                try duet.core?.beginNextTurn(id: DuetTransport.randomID())
                try duet.core?.agree()
            case .singAgain:
                try duet.core?.singAgain(id: DuetTransport.randomID())
                try duet.core?.agree()
            }
        }
        switch order {
        case .chooseSong(let path, let beat): readSong(path, beat)
        // A recording of the local voice is a part of the agreement.
        case .agree(true): try? perform(.allowRecording(true))
        default: break
        }
    }

    /// Reads a song's file and chooses it. A failure is noted.
    private func readSong(_ path: String, _ beat: Beat?) {
        let number = duet.withLock { duet in
            duet.choiceCount += 1
            return duet.choiceCount
        }
        Task.detached { [self] in
            do throws(DuetProblem) {
                let song = try SongFile.describe(path, beat: beat)
                if duet.withLock({ $0.choiceCount == number }) { choose(song, path: path) }
            } catch { duet.withLock { $0.note(error) } }
        }
    }

    /// True if the local participant can sing: it has a voice and may agree.
    private var canSing: Bool { media != nil && configuration.singsDuets }

    func receiveDuet(_ datagram: NearbyDatagram) {
        guard canSing else { return }
        duet.withLock { $0.core?.receive(datagram.bytes, from: datagram.sender, at: .now()) }
    }

    /// Does what the duet needs. On the call's thread.
    func workOnDuet(_ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels, at now: HostTime) {
        guard canSing, snapshot.isInRoom, let own = snapshot.localParticipant else { return }
        let others = snapshot.participants.filter(\.isNative)
        let actions = duet.withLock { duet in
            if let core = duet.core, core.own != own.id {
                // A new host has admitted this participant under another number.
                duet.core = DuetCore(own: own.id, continuing: core)
            }
            var core = duet.core ?? DuetCore(own: own.id, singer: DuetTransport.randomID())
            let host = own.isHost ? own.id : others.first(where: \.isHost)?.id
            core.setMembers(Set(others.map(\.id) + [own.id]), host: host)
            for other in others {
                core.setClock(levels.participants[other.id]?.media.clock?.clock, of: other.id)
                core.setDelay(levels.participants[other.id]?.mouthToEar, of: other.id)
            }
            duet.core = core
            duet.noteSleep()
            if let (song, sound, guidePath) = duet.chosen, own.isHost {
                duet.chosen = nil
                do throws(DuetRefusal) {
                    try duet.core?.choose(song, id: DuetTransport.randomID(), at: now)
                    duet.sound = sound
                    if let hash = song.guide?.hash, let guidePath { duet.guide = (hash, guidePath) }
                } catch { duet.note(.notChosen(error)) }
            }
            let actions = duet.core?.tick(at: now) ?? []
            duet.followTime(at: now)
            return actions
        }
        for action in actions { execute(action, to: others.map(\.id)) }
        announceSong(isHost: own.isHost)
        startAwaitedTake(snapshot)
        finishAttempts(snapshot, at: now)
        reportChange(at: now)
    }

    /// Sends an event if the duet has changed.
    private func reportChange(at now: HostTime) {
        let (status, isNew) = duet.withLock { duet in
            let status = duet.status(at: now)
            return (status, duet.changes.note(status, at: now))
        }
        if isNew { handle(.duet(status)) }
    }

    /// Names the song in the announcement of the room, if this participant is the host and the song is not hidden.
    private func announceSong(isHost: Bool) {
        let isChanged = duet.withLock { duet in
            let status = duet.core?.status(at: .now())
            let title = status?.song.flatMap { isHost && $0.isHidden != true ? $0.title : nil }
            let new = (title: title, freePart: title == nil ? nil : status?.freePart)
            defer { duet.announcedSong = new }
            return new != duet.announcedSong
        }
        guard isChanged else { return }
        // Tasks may run in another order, so each announces the present title.
        Task { [self] in
            let song = duet.withLock { $0.announcedSong }
            await room.announceSong(song.title, freePart: song.freePart)
        }
    }

    private func execute(_ action: DuetCore<MemberID>.Action, to others: [MemberID]) {
        switch action {
        case .send(let bytes): for member in others { room.sendDatagram(bytes, to: member) }
        case .sendSong(let member): sendSong(to: member)
        case .sendGuide(let member): sendGuide(to: member)
        case .setSong(let song): setSong(song)
        case .play(let position, let time): play(from: position, at: time, isMix: false)
        case .playMix(let position, let time): play(from: position, at: time, isMix: true)
        case .moveStart(let time): duet.withLock { $0.player?.moveStart(to: time) }
        case .pause(let time): duet.withLock { $0.player?.pause(at: time) }
        case .record(let attempt): duet.withLock { $0.awaitedRecording = attempt }
        case .awaitVoice(let attempt): awaitVoice(attempt)
        case .finishRecording(let attempt): finishTake(attempt)
        }
    }

    // MARK: The song

    private func setSong(_ song: DuetSong) {
        closeSong()
        findGuide(of: song)
        let sound = duet.withLock { duet in
            let sound = DuetSound(song, path: duet.sound?.path)
            duet.beginSong(nil, nil)
            return sound
        }
        if let sound, duet.withLock({ $0.core?.status(at: .now()).phase != .gettingSong }) {
            openSong(song, sound)
        } else {
            findSong(song)
        }
    }

    /// Opens the sound of the duet's song, unless it is open or the song is another one meanwhile.
    func openSong(_ song: DuetSong, _ sound: DuetSound) {
        let isWanted = duet.withLock { duet in
            guard duet.core?.song?.hash == song.hash, duet.player == nil, !duet.isOpening else { return false }
            duet.isOpening = true
            return true
        }
        guard isWanted else { return }
        let player = openPlayer(sound, of: song)
        let isCutOff = sound.isCutOff
        let next = duet.withLock { duet -> DuetSong? in
            duet.isOpening = false
            guard duet.core?.song?.hash == song.hash else { return duet.core?.song }
            if let player { duet.beginSong(sound, player) }
            if player != nil, isCutOff { duet.note(.cutOff(name: song.name, duration: song.duration)) }
            duet.core?.setPresentSong(player == nil ? nil : song.hash)
            return nil
        }
        // The host chose another song while this one was opened.
        if let next { setSong(next) }
    }

    /// Plays the song, or the mix of the attempt, in place of the other one.
    private func play(from position: Double, at time: HostTime, isMix: Bool) {
        let (mix, sound, song) = duet.withLock { duet -> (UInt32?, DuetSound?, DuetSong?) in
            let mix = isMix ? duet.core?.status(at: .now()).attempt : duet.keptMix
            guard duet.playedMix != mix || mix != nil && duet.isMixStale else { return (mix, nil, nil) }
            let sound = mix.map { duet[$0]?.mixPath.map { .file($0) } } ?? duet.sound
            return (mix, sound, isMix ? nil : duet.core?.song)
        }
        if let sound, let player = openPlayer(sound, of: song) {
            duet.withLock { ($0.player, $0.playedMix, $0.isMixStale) = (player, mix, false) }
        }
        duet.withLock { duet in if duet.playedMix == mix { duet.play(from: position, at: time) } }
    }

    /// Opens a sound in the song's place; nil after an error, which is noted.
    /// - Parameter song: the song of the sound; nil for a mix.
    private func openPlayer(_ sound: DuetSound, of song: DuetSong?) -> SongPlayer? {
        do throws(SongError) {
            let player = try openSong(sound, of: song) { [weak self] state in
                if let failure = state.failure { self?.duet.withLock { $0.note(.song(failure)) } }
                if let failure = state.guideFailure { self?.duet.withLock { $0.note(.guide(failure)) } }
            }
            if song != nil { duet.withLock { $0.addGuide(to: player) } }
            return player
        } catch {
            let problem: DuetProblem =
                switch error {
                case .noSound: .noSound
                case .file(let error): .song(error)
                case .system(let code): .system(code: code)
                }
            duet.withLock { $0.note(problem) }
            return nil
        }
    }

    /// Opens the song if its file is in the folder of songs or in a take from an earlier duet. Otherwise the host sends it.
    private func findSong(_ song: DuetSong) {
        Task.detached { [self] in
            let paths =
                SongFile.files(in: configuration.songFolder)
                + TakeFolders.songs(like: song, in: configuration.duetFolder)
            if let path = SongFile.find(hash: song.hash, byteCount: song.byteCount, among: paths) {
                openSong(song, .file(path))
            }
        }
    }

    private func sendSong(to member: MemberID) {
        guard let path = duet.withLock({ $0.sound?.path }) else { return }
        sendSongFile(path, to: member) { $0.songTransferEnded(to: member, at: .now()) }
    }

    /// Sends the file of a song, or of its guide vocal.
    /// - Parameter note: notes the end of the transfer.
    func sendSongFile(_ path: String, to member: MemberID, note: @escaping @Sendable (inout DuetCore<MemberID>) -> Void)
    {
        Task { [self] in
            var reason: TransferError?
            do throws(TransferError) {
                let file = try await room.sendFile(at: path, to: [member])
                do throws(TransferFailure) { try await file.finished() } catch { reason = error.reasons[member] }
            } catch { reason = error }
            duet.withLock { duet in
                if var core = duet.core {
                    note(&core)
                    duet.core = core
                }
                // A member that has found the file declines it.
                guard let reason, reason != .declined else { return }
                duet.note(.notSent(name: PathText.fileName(path), to: member, reason))
            }
        }
    }
}
