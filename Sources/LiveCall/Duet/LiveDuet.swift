// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet
import EarshotRooms

/// The live state of a call's duet: the agreement, the song's player, and the files of the attempts.
struct LiveDuet: Sendable {
    /// The files of an attempt.
    struct Attempt: Sendable {
        /// The folder with the stems and the mix.
        var folder: String
        /// The recording with the local take.
        var recordingFolder: String { "\(folder)/recording" }
        /// True once the recording was asked to end.
        var isOver = false
        var isStemRequested = false
        /// The time at which the local stem was complete.
        var stemTime: HostTime?
        var stems: Set<MemberID> = []
        /// The singers whose stems are arriving.
        var arrivingStems: Set<MemberID> = []
        /// The stems that did not fit in.
        var refusedStems: Set<MemberID> = []
        var isMixRequested = false
        /// True until the local stem was sent.
        var isSending = true
        /// True once the mix is complete or has failed.
        var isMixed = false
        var mixPath: String?
        /// True while the attempt's files are being made and exchanged.
        var isBusy: Bool { isOver && (isSending || !isMixed) }
    }

    /// The problems that are kept.
    private static let problemLimit = 50
    /// Seconds after the local stem for which the stems of others are awaited.
    static let stemTime = 30.0

    var core: DuetCore<MemberID>?
    /// The song that the local singer has chosen, until the call is in a room.
    var chosen: (song: DuetSong, path: String)?
    /// The path of the present song's file; nil while it is not here.
    var songPath: String?
    /// The player of the present song, or of its mix; nil without one.
    var player: SongPlayer?
    /// True while ``player`` has the mix.
    var hasMix = false
    private var follower = SongFollower()
    /// The part of the song's file that has arrived; nil unless it is arriving.
    var arrivedPart: Double?
    /// The folder of the present song's attempts; nil before the first.
    var folder: String?
    var attempts: [UInt32: Attempt] = [:]
    private(set) var problems: [DuetProblem] = []

    mutating func note(_ problem: DuetProblem) {
        if problems.count < Self.problemLimit { problems.append(problem) }
    }

    func status(at now: HostTime) -> LiveDuetStatus? {
        guard let core, core.isActive || chosen != nil || !problems.isEmpty else { return nil }
        let duet = core.status(at: now)
        let attempt = attempts[duet.attempt]
        return LiveDuetStatus(
            duet: duet, arrivedPart: arrivedPart, folder: attempt?.folder, presentStems: attempt?.stems ?? [],
            mixPath: attempt?.mixPath, isBusy: attempts.values.contains(where: \.isBusy), problems: problems)
    }

    /// Forgets the files of the last song.
    mutating func beginSong(path: String?, _ player: SongPlayer?) {
        (songPath, self.player, hasMix) = (path, player, false)
        (folder, attempts, arrivedPart) = (nil, [:], nil)
    }

    func play(from seconds: Double, at time: HostTime) {
        guard let player else { return }
        player.play(from: SongPosition(seconds: seconds, rate: player.sampleRate), at: time)
    }

    /// Keeps the song in step with the group's time.
    mutating func followTime(at now: HostTime) {
        guard let player, let core else { return }
        let state = player.state
        guard state.isPlaying, let heard = core.duePosition(at: state.hostTime),
            let end = core.duePosition(at: state.end.hostTime)
        else { return follower.restart() }
        let correction = follower.correction(
            heardError: heard - state.position.frames / player.sampleRate,
            endError: end - state.end.position.frames / player.sampleRate, at: now)
        if let correction { player.setCorrection(correction) }
    }
}

extension SongPosition {
    /// - Parameter rate: the song's sample rate in hertz.
    init(seconds: Double, rate: Double) {
        let frames = seconds * rate
        let whole = frames.rounded(.down)
        self.init(frame: Int64(whole), fraction: Int64((frames - whole) * Double(Self.unitsPerFrame)))
    }
}
