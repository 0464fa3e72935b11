// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

/// The sentences about a duet.
enum DuetSentences {
    static func song(_ song: DuetSong) -> String {
        if let beat = song.beat, song.isBeat {
            let tempo = String(format: "%g", beat.tempo)
            return "Beat: \(tempo) a minute, \(beat.beatsPerBar) in a bar (\(PlayLine.clock(song.duration)))."
        }
        let guide = song.guide == nil ? "" : " It has a guide vocal."
        return "Song: \(TerminalText.sanitizedLine(song.title)) (\(PlayLine.clock(song.duration))).\(guide)"
    }

    static let songKeys = "Type letters of a song's name. Keys: ↑ ↓ select, Enter choose, Ctrl-U clear, Esc leave"

    static let nextSongKeys =
        "Type letters of the next song's name. Keys: ↑ ↓ select, Enter choose, Ctrl-U clear, Esc cancel"
    static let hostChooses = "The host chooses the next song."
    static let choiceEnded = "The next song can be chosen after this one."
    static let answerAfterChoice = "To answer the guest, end the choice of a song first: Esc"

    /// The folder of the user has no songs.
    static func noSongs(in folder: String) -> String {
        "No song in \(folder): songs are sound files such as .mp3, .m4a, .ogg, .opus, .flac and .wav. Start in another "
            + "folder, name a song: earshot duet host SONG, or sing to a metronome: earshot duet host --beat 96"
    }

    /// The folder of the user has no songs, while a duet goes on.
    static func noNextSong(in folder: String) -> String {
        "No song in \(folder). Name one in another terminal: earshot call duet song FILE"
    }

    /// A room without a duet.
    static func noSong(room: String) -> String {
        "No song here yet: '\(TerminalText.sanitizedLine(room))' is a call without a duet. "
            + "Its host can begin one: earshot duet host SONG"
    }

    /// A room that was joined as a call, and sings.
    static func joins(_ song: String, room: String) -> String {
        "'\(TerminalText.sanitizedLine(room))' sings \(TerminalText.sanitizedLine(song)): joining as a duet."
    }

    /// The progress of a song from the network, in bytes.
    /// - Parameter kind: `song` or `guide vocal`.
    static func downloaded(_ kind: String, _ count: Int, of total: Int?) -> String {
        let megabytes = String(format: "%.1f", Double(count) / 1e6)
        guard let total, total > 0 else { return "The \(kind) arrives: \(megabytes) MB" }
        return
            "The \(kind) arrives: \(megabytes) of \(String(format: "%.1f", Double(total) / 1e6)) MB, \(100 * count / total) %"
    }

    static let guideIsHere = "Guide vocal received."

    /// - Parameter gain: a factor, 0 to 1.
    static func guide(_ gain: Double) -> String { String(format: "Guide vocal: %.0f %%, for you alone.", gain * 100) }

    static let songArrives = "Receiving the song from the host."
    static let songIsHere = "Song received."

    /// - Parameters:
    ///   - attempt: the number of the attempt.
    ///   - mode: the sentences about delay and mode; see ``mode(_:delay:hasKeys:isNew:name:)``.
    ///   - parts: the sentence about the parts of the song; empty for none.
    ///   - inProgress: the sentence about the others, who sing already; nil before the song.
    static func agreement(
        attempt: UInt32, mode: String, parts: String = "", voices: RecordedVoices = .all, hasKeys: Bool,
        inProgress: String? = nil
    ) -> String {
        let mode = parts.isEmpty ? mode : "\(parts) \(mode)"
        if let inProgress {
            let words = "\(inProgress) \(mode)\(recorded(voices == .all ? .own : voices))"
            return hasKeys ? "\(words) Press Enter to join in." : words
        }
        let take = attempt > 1 ? "Take \(attempt). " : ""
        return "\(take)\(mode)\(recorded(voices))\(hasKeys ? " Press Enter when you are ready." : "")"
    }

    /// The voices of an attempt that are recorded for the mix.
    enum RecordedVoices { case all, own, others }

    private static func recorded(_ voices: RecordedVoices) -> String {
        switch voices {
        case .all: "Your voices will be recorded."
        case .own: "Your voice will be recorded."
        case .others: "The call will be recorded. Your voice will not be in the mix."
        }
    }

    /// The song that others sing already.
    /// - Parameter names: the names of those who sing.
    static func inProgress(_ duet: DuetStatus<MemberID>, _ names: [String]) -> String {
        guard let song = duet.song else { return "" }
        let singers = names.isEmpty ? ["Others"] : names.map { TerminalText.sanitized($0) }
        let isOne = names.count == 1
        let verb =
            switch duet.phaseOfOthers {
            case .paused: isOne ? "has paused" : "have paused"
            default: isOne ? "is singing" : "are singing"
            }
        let title = TerminalText.sanitizedLine(song.title)
        return "\(RecordingSentences.list(singers)) \(verb) \(title), "
            + "\(PlayLine.clock(duet.position)) of \(PlayLine.clock(song.duration))."
    }

    static let songOver = "The song is over. Press r to sing it again."

    static let noTerminal = "No terminal to agree on, so the song cannot start. Use --agree."

    static func agrees(_ name: String, _ agrees: Bool) -> String {
        "\(TerminalText.sanitized(name)) \(agrees ? "agrees" : "does not agree any more")."
    }

    static func ownAgreement(_ agrees: Bool, waitingFor names: [String]) -> String {
        guard agrees else { return "Agreement withdrawn." }
        guard !names.isEmpty else { return "You agree." }
        return "You agree. Waiting for \(RecordingSentences.list(names.map { TerminalText.sanitized($0) }))."
    }

    /// A take that begins without the local voice.
    static func silence(_ silence: DuetNotices.Silence, hasKeys: Bool) -> String {
        switch silence {
        case .muted: "You are muted, so the take lacks your voice. Unmute: \(hasKeys ? "m" : "earshot call unmute")"
        case .pushToTalk:
            "Push to talk is on, so the take lacks your voice except while you hold Space. Turn it off: "
                + (hasKeys ? "t" : "earshot call talk off")
        case .microphone:
            "Your microphone is silent, so the take lacks your voice. Unmute it in the sound settings, or use another: "
                + "earshot call device --microphone NAME"
        }
    }

    /// The question to the singer who wants to begin anew in mid-song.
    static func singAgainQuestion(attempt: UInt32) -> String {
        "Sing again from the beginning? \(unfinishedTake(attempt)) Keys: y sing again, n go on"
    }

    /// The question to the singer who wants to leave in mid-song.
    static func leaveQuestion(attempt: UInt32) -> String {
        "Leave in mid-song? \(unfinishedTake(attempt)) Keys: y leave, n go on"
    }

    static func leftTake(_ name: String) -> String { "\(TerminalText.sanitized(name)) has left this take." }

    static let songGoesOn = "The song goes on."
    static let takeIsOver = "That take is over. Press r to sing again."
    static let questionChanged = "The question changed. Press y or n for the guest, or r to sing again."

    /// - Parameter unfinished: the number of the take that was being sung; nil after a song's end.
    static func begins(_ name: String, unfinished: UInt32?) -> String {
        let words = "\(TerminalText.sanitized(name)) begins the song again."
        return unfinished.map { "\(words) \(unfinishedTake($0))" } ?? words
    }

    static func nextTurn(_ name: String) -> String { "\(TerminalText.sanitized(name)) begins the next turn." }

    static func unfinishedTake(_ attempt: UInt32) -> String {
        "This take stays as take \(attempt), unfinished."
    }

    static let counting = "All agree. The song begins after the count-in."
    static let singing = "Sing."

    static func listening(to name: String) -> String { "\(TerminalText.sanitized(name)) sings." }

    /// - Parameter name: of another singer; nil for the user.
    static func paused(by name: String? = nil) -> String {
        name.map { "\(TerminalText.sanitized($0)) has paused the song." } ?? "The song is paused."
    }

    static func resumed(by name: String? = nil) -> String {
        name.map { "\(TerminalText.sanitized($0)) has resumed the song." } ?? "Song resumed."
    }

    static func moved(by name: String, to seconds: Double) -> String {
        "\(TerminalText.sanitized(name)) has moved the song to \(PlayLine.clock(seconds))."
    }

    static let listening = "The mix plays for all. Enter stops it for all."
    static let ended = "The song is over. The voices are being exchanged."

    static func stem(_ name: String) -> String { "Received \(TerminalText.sanitized(name))'s voice." }

    /// The beginning of a take to which the user has agreed.
    /// - Parameter singer: the name of the one whose turn it is; nil if it is the user's, or nobody's.
    static func take(_ attempt: UInt32, turn singer: String? = nil, waitingFor names: [String]) -> String {
        let turn = singer.map { " \(othersTurn($0))" } ?? ""
        return "Take \(attempt).\(turn) \(ownAgreement(true, waitingFor: names))"
    }

    /// A singer who cannot record the take.
    static func cannotRecord(_ name: String) -> String {
        "\(TerminalText.sanitized(name)) cannot record this take and has left it. Press r for a new take."
    }

    /// - Parameters:
    ///   - missing: the names of the singers whose voices are not in the mix.
    ///   - isBeat: true if the voices were sung to a beat.
    ///   - choosesSong: true if the user can choose the next song.
    static func mixed(
        _ path: String, missing: [String], isBeat: Bool = false, isInTurn: Bool = false, choosesSong: Bool = false,
        hasKeys: Bool
    ) -> String {
        let names = RecordingSentences.list(missing.map { TerminalText.sanitized($0) })
        let reason = missing.count == 1 ? "voice did not arrive" : "voices did not arrive"
        let without = missing.isEmpty ? "" : " (without \(names), whose \(reason))"
        let voices = isBeat ? "  The mix has the voices without the beat." : ""
        let saved = "Saved: \(path)\(without)\(voices)"
        guard hasKeys else { return saved }
        let turn = isInTurn ? "Tab next turn, " : ""
        let next = choosesSong ? "n next song, " : ""
        return saved
            + "\nKeys: \(turn)Enter listen together, e change the mix, arrows balance it, r sing again, \(next)q leave"
    }

    /// A mix that was made again with another preset.
    /// - Parameter isPlaying: true while an earlier mix plays.
    static func preset(_ preset: MixPreset, isPlaying: Bool) -> String {
        let summary = preset.summary.prefix(1).lowercased() + preset.summary.dropFirst()
        return "Your mix is '\(preset.name)' now: \(summary)\(isPlaying ? " You hear it the next time." : "")"
    }

    /// A mix that was made again with another balance.
    static func balanced(_ balance: MixBalance) -> String {
        let voices = balance.voices.filter { $0.decibels != 0 }.map { self.balance($0.name, $0.decibels) }
        return voices.isEmpty ? "Your mix is even now." : "Your mix has \(RecordingSentences.list(voices)) now."
    }

    /// Returns a voice of a mix and its decibels as `Ben +3 dB`.
    static func balance(_ voice: String, _ decibels: Float) -> String {
        "\(TerminalText.sanitized(voice)) \(String(format: decibels == 0 ? "%g" : "%+g", decibels)) dB"
    }

    /// A take that an earlier program did not finish.
    static func unfinished(_ take: TakeFolders) -> String {
        TerminalText.sanitizedLine(
            "An earlier take is unfinished. Join its duet to continue, or restore its voice: earshot mix "
                + HostCommand.quoted(take.folder))
    }

    /// The voice of a take that was not finished.
    static func finished(_ take: TakeFolders.Finished) -> String {
        let gaps = take.stem.gaps.reduce(0) { $0 + Double($1.frameCount) } / take.stem.format.sampleRate
        let words = gaps > 0 ? " Gaps: \(FileFormatting.time(gaps))." : ""
        return TerminalText.sanitizedLine(
            "Restored \(take.singer)'s voice from a recording that ended early: \(take.stem.path).\(words)")
    }

    /// Returns the guide vocal's level, or the progress of its file, for a status line; nil while there is neither.
    private static func guide(_ guide: LiveDuetStatus.Guide) -> String? {
        if guide.isHere { return String(format: " guide %.0f %%", guide.gain * 100) }
        return guide.arrivedPart.map { " guide arrives \(Int($0 * 100)) %" }
    }

    /// Returns the part of a status line: `♪ Song 0:12/3:20`.
    /// - Parameter voice: the voice of the mix whose balance the arrows change; nil before they do.
    static func line(_ status: LiveDuetStatus, selected voice: MixBalance.Voice? = nil) -> String? {
        let duet = status.duet
        guard let song = duet.song else { return nil }
        let title = PlayLine.fit(TerminalText.sanitizedLine(song.title), 16)
        let times = "\(PlayLine.clock(duet.position))/\(PlayLine.clock(song.duration))"
        let guide = status.guide.flatMap(Self.guide) ?? ""
        if let voice, duet.phase.isOver, !status.isBusy || duet.phase == .listening {
            let place = duet.phase == .listening ? " \(times) " : ": "
            return "♪ \(title) mix\(place)\(balance(voice.name, voice.decibels))"
        }
        switch duet.phase {
        case .noSong: return nil
        case .gettingSong: return status.arrivedPart.map { "♪ \(title) arrives \(Int($0 * 100)) %" } ?? "♪ \(title)"
        case .agreeing where duet.singers.isEmpty: return "♪ \(title)"
        case .agreeing where duet.phaseOfOthers?.isOver == true: return "♪ \(title) over"
        case .agreeing where duet.phaseOfOthers != nil: return "♪ \(title) \(times) Enter joins"
        case .agreeing: return (duet.hasAgreed ? "♪ \(title) waiting" : "♪ \(title) Enter agrees") + guide
        case .findingTime: return "♪ \(title) …"
        case .counting(let seconds): return "♪ begins in \(Int(seconds.rounded(.up)))  \(title)"
        case .singing: return "♪ \(title) \(times)\(guide)"
        case .paused: return "‖ \(title) \(times)"
        case .listening: return "♪ \(title) mix \(times)"
        case .ended: return status.isBusy ? "♪ \(title) mixing" : "♪ \(title) over"
        }
    }
}
