// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet
import EarshotMediaTransport
import EarshotRooms

/// The live state of a call's duet: the agreement, the song's player, and the files of the attempts.
struct LiveDuet: Sendable {
    /// The files of an attempt.
    struct Attempt: Sendable {
        /// The folder for the stems and the mix.
        var folder: String
        /// The folders of the recordings with the local takes, in order. Only the last one is of this program.
        var recordingFolders: [String]
        var recordingFolder: String { recordingFolders.last ?? "\(folder) recording" }
        /// The numbers of the attempt and the singer's key, for the description of the folder.
        var identity: RecordingManifest.Attempt?
        var sound: DuetSound
        var songTitle: String
        /// The length of the song in seconds.
        var duration = DuetSong.longestDuration
        /// The other singers who agreed to the attempt.
        var singers: Set<MemberID> = []
        /// The others who agreed, but only listen.
        var listeners: Set<MemberID> = []
        /// False if the attempt is the turn of another singer, so that there is no local voice.
        var isSung = true
        /// The folder of the attempt whose voices this one keeps; nil for none.
        var keptFolder: String?
        /// The parts of the local singer and of the others who agreed, 1 or 2.
        var part: Int?
        var parts: [MemberID: Int] = [:]
        var keys: [KeyFingerprint: MemberID] = [:]
        /// True once the recording was asked to end.
        var isOver = false
        var isStemRequested = false
        /// The time at which the local stem was complete, or had failed; nil before.
        var stemTime: HostTime?
        /// The singers to whom the local stem is still to be sent.
        var receivers: Set<MemberID> = []
        /// The singers whose stems are in the folder, are arriving, or did not fit in.
        var stems: Set<MemberID> = []
        var arrivingStems: Set<MemberID> = []
        var refusedStems: Set<MemberID> = []
        /// The singers who have told that they cannot record the attempt.
        var unableSingers: Set<MemberID> = []
        /// The preset of the next mix, and of the present one.
        var preset = MixPreset.standard
        var mixPreset = MixPreset.standard
        /// The balance of the next mix, and of the present one.
        var balance = MixBalance()
        var mixBalance = MixBalance()
        /// The time before which no mix is made, since the balance may change again; nil for none.
        var mixTime: HostTime?
        var isMixRequested = false
        /// True while a mix is made. Another one waits for its end.
        var isMixing = false
        /// True once the mix is complete or has failed.
        var isMixed = false
        var mixPath: String?
        /// The singers whose voices are missing in the mix.
        var mixMissing: Set<MemberID> = []

        /// False while a turn of another singer has no voice that could be mixed.
        var hasVoice: Bool { isSung || !stems.isEmpty }

        /// The other singers whose stems may still arrive.
        var awaitedSingers: Set<MemberID> {
            singers.subtracting(stems).subtracting(refusedStems).subtracting(unableSingers)
        }

        /// Returns true while the attempt's files are being made, or exchanged with singers who are present.
        func isBusy(with present: Set<MemberID>) -> Bool {
            guard isOver else { return false }
            if stemTime == nil || isMixRequested && !isMixed || !receivers.isDisjoint(with: present) { return true }
            let awaited = awaitedSingers.union(arrivingStems)
            return !isMixed && awaited.isEmpty || !awaited.isDisjoint(with: present)
        }

        /// Returns true while the local voice is being made, or sent to singers who are present.
        func isSending(to present: Set<MemberID>) -> Bool {
            isOver && isSung && (stemTime == nil || !receivers.isDisjoint(with: present))
        }

        /// Returns true if the mix should be made now.
        /// - Parameter present: the other singers who are present.
        func needsMix(at now: HostTime, with present: Set<MemberID>) -> Bool {
            guard isOver, hasVoice, let stemTime, !isMixRequested, !isMixing, arrivingStems.isEmpty,
                mixTime.map({ $0 <= now }) ?? true
            else { return false }
            let awaited = awaitedSingers
            let timeout = awaited.isDisjoint(with: present) ? LiveDuet.absenceTimeout : LiveDuet.stemTimeout
            return awaited.isEmpty || now.seconds(since: stemTime) > timeout
        }

        /// Adds a singer who agreed. One that came back under another number has one place.
        mutating func add(singer: MemberID, key: KeyFingerprint?) {
            guard singers.insert(singer).inserted, let key else { return }
            if let old = keys.updateValue(singer, forKey: key) { singers.remove(old) }
        }

        /// Adds a singer's stem. A mix without it is made again.
        mutating func add(stemOf singer: MemberID) {
            stems.insert(singer)
            (isMixRequested, isMixed) = (false, false)
        }
    }

    /// Seconds from a change of the balance to the mix. More changes may follow.
    static let balancingTime = 1.0
    /// The problems that are kept.
    private static let problemLimit = 50
    /// The bytes of songs that a call receives.
    static let songLimit: Int64 = 2 << 30
    /// Seconds after the local stem for which the stems of others are awaited, and if no one of these is present.
    fileprivate static let (stemTimeout, absenceTimeout) = (30.0, 3.0)

    var core: DuetCore<MemberID>?
    /// The song that the local singer has chosen, until the call is in a room.
    var chosen: (song: DuetSong, sound: DuetSound, guidePath: String?)?
    /// The choices so far. Only the last one counts, since reading a large song's file takes a while.
    var choiceCount = 0
    /// The title and the free part that the room's announcement has.
    var announcedSong: (title: String?, freePart: Int?) = (nil, nil)
    /// The sound of the present song; nil while its file is not here.
    var sound: DuetSound?
    /// The player of the present song, or of its mix; nil without one.
    var player: SongPlayer?
    /// The attempt whose mix ``player`` has in place of the song; nil for the song.
    var playedMix: UInt32?
    /// True if ``player`` has an older mix than the file.
    var isMixStale = false
    /// True while a file is being opened for the song.
    var isOpening = false
    /// True if another loudspeaker in the room plays the song for the local singer too.
    var isSongElsewhere = false
    private var follower = SongFollower()
    /// The bytes of the songs that were accepted so far.
    var acceptedSongBytes: Int64 = 0
    /// The part of the song's file that has arrived; nil unless it is arriving.
    var arrivedPart: Double?
    /// The file of the last guide vocal, by its hash; nil before the first.
    var guide: (hash: String, path: String)?
    /// The level at which the local singer hears guide vocals.
    var guideGain: Float = 1
    /// The part of the guide vocal's file that has arrived; nil unless it is arriving.
    var arrivedGuidePart: Double?
    /// The folder of the present song's attempts; nil before the first.
    var folder: String?
    /// The attempts of all songs, in order, each with its number. Another song continues the numbers.
    private(set) var attempts: [(number: UInt32, files: Attempt)] = []
    /// Seconds for which a file from a singer waits for the announcement that asks for it.
    var announcementTime = 2.0
    /// The attempt to record as soon as no other recording runs; nil without one.
    var awaitedRecording: UInt32?
    /// True while the recording is that of an attempt.
    var ownsRecording = false
    /// True once a file of that recording could not be written.
    var hasRecordingFailed = false
    /// The hashes of the stems that are arriving, of all attempts.
    var arrivingHashes: Set<String> = []
    private(set) var problems: [DuetProblem] = []
    private var sleep = SleepNotice()
    var changes = DuetChanges()

    mutating func note(_ problem: DuetProblem) {
        // The host offers the song every few seconds, so one folder would be named again and again.
        if case .folder(let path, _) = problem,
            problems.contains(where: { if case .folder(path, _) = $0 { true } else { false } })
        {
            return
        }
        if problems.count < Self.problemLimit { problems.append(problem) }
    }

    /// The attempt of a number.
    subscript(number: UInt32) -> Attempt? {
        get { index(of: number).map { attempts[$0].files } }
        set {
            guard let newValue else { return }
            if let index = index(of: number) {
                attempts[index].files = newValue
            } else {
                attempts.append((number, newValue))
            }
        }
    }

    private func index(of number: UInt32) -> Int? { attempts.firstIndex { $0.number == number } }

    /// Changes the attempt with a folder.
    mutating func update(_ folder: String, _ change: (inout Attempt) -> Void) {
        guard let index = attempts.firstIndex(where: { $0.files.folder == folder }) else { return }
        change(&attempts[index].files)
    }

    /// Returns true if a stem of another singer may still be announced.
    func awaitsStem(of member: MemberID) -> Bool { attempts.contains { $0.files.awaitedSingers.contains(member) } }

    func status(at now: HostTime) -> LiveDuetStatus? {
        guard let core, core.isActive || chosen != nil || !problems.isEmpty else { return nil }
        let duet = core.status(at: now)
        let attempt = self[duet.attempt]
        let present = Set(duet.singers.map(\.member))
        // The recording goes on for a moment after the song.
        let isEnding = duet.phase == .ended && attempt?.isOver == false
        let open = attempts.map(\.files).filter { $0.isOver || isEnding && $0.folder == attempt?.folder }
        let guide = duet.song?.guide.map { guide in
            LiveDuetStatus.Guide(
                gain: guideGain, isHere: guide.hash == self.guide?.hash, arrivedPart: arrivedGuidePart)
        }
        return LiveDuetStatus(
            duet: duet, arrivedPart: arrivedPart, guide: guide, presentStems: attempt?.stems ?? [],
            singers: attempt?.singers ?? [],
            mixPath: attempt?.mixPath, mixPreset: attempt?.mixPreset ?? .standard,
            preset: attempt?.preset ?? .standard, balance: attempt?.balance ?? MixBalance(),
            mixBalance: attempt?.mixBalance ?? MixBalance(),
            mixPaths: attempts.compactMap { $0.files.mixPath },
            missingVoices: attempts.reduce(into: [:]) { missing, attempt in
                if let path = attempt.files.mixPath { missing[path] = attempt.files.mixMissing }
            },
            awaitedSingers: present.intersection(open.flatMap { $0.awaitedSingers.union($0.arrivingStems) }),
            receivers: present.intersection(open.flatMap(\.receivers)),
            isBusy: isEnding || attempts.contains { $0.files.isBusy(with: present) },
            isSending: isEnding || attempts.contains { $0.files.isSending(to: present) },
            isUnfinished: attempts.contains { !$0.files.isMixed },
            isSongElsewhere: isSongElsewhere, problems: problems)
    }

    /// Lets the mix of the present attempt be made again.
    /// - Parameters:
    ///   - time: the earliest time of the mix.
    ///   - change: changes the settings of the attempt's next mix.
    mutating func mixAgain(
        at time: HostTime, _ change: (inout Attempt) throws(DuetRefusal) -> Void
    ) throws(DuetRefusal) {
        guard let core, core.song != nil else { throw .noSong }
        let number = core.status(at: time).attempt
        guard var files = self[number], files.mixPath != nil else { throw .mixMissing }
        try change(&files)
        (files.isMixRequested, files.isMixed, files.mixTime) = (false, false, time)
        self[number] = files
    }

    /// Begins with another song, or with its sound.
    mutating func beginSong(_ sound: DuetSound?, _ player: SongPlayer?) {
        (self.sound, self.player, playedMix) = (sound, player, nil)
        (folder, arrivedPart, arrivedGuidePart) = (nil, nil, nil)
        follower = SongFollower()
    }

    func play(from seconds: Double, at time: HostTime) {
        guard let player else { return }
        player.play(from: SongPosition(seconds: seconds, rate: player.sampleRate), at: time)
    }

    /// Keeps the song in step with the group's time.
    mutating func followTime(at now: HostTime) {
        guard let player, let core, let groupRate = core.groupRate(at: now) else { return }
        let state = player.state
        var endError = 0.0
        if state.isPlaying {
            guard let end = core.duePosition(at: state.end.hostTime) else { return }
            endError = end - state.end.position.frames / player.sampleRate
        }
        let correction = follower.correction(rate: groupRate - state.deviceRate, endError: endError, at: now)
        if let correction { player.setCorrection(correction) }
    }

    /// Tells the agreement if the machine slept since the last look.
    mutating func noteSleep() { if sleep.hasSlept() { core?.slept() } }
}

extension SongPosition {
    /// - Parameter rate: the song's sample rate in hertz.
    init(seconds: Double, rate: Double) {
        let frames = seconds * rate
        let whole = frames.rounded(.down)
        self.init(frame: Int64(whole), fraction: Int64((frames - whole) * Double(Self.unitsPerFrame)))
    }
}
