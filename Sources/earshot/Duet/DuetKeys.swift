// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotLiveCall
import EarshotRooms

/// Converts keys to orders for a duet. Remembers an open question.
struct DuetKeys {
    enum Action: Equatable {
        case perform(DuetOrder)
        /// A question, which `y` or `n` answers.
        case ask(String)
        case say(String)
        /// The user leaves in mid-song.
        case leave
        /// The host chooses the next song.
        case chooseSong
        /// The key does nothing.
        case ignore
    }

    /// The question if a take may end, with the guests who asked to join at that time.
    private struct Question {
        enum Subject { case singAgain, leave }

        var subject: Subject
        var attempt: UInt32
        var joinRequests: [JoinRequestID]
    }

    /// The seconds of a step, as in `earshot play`.
    private static let seekStep = 5.0

    static let help = """
        Enter  agree, or withdraw; after the song: listen to the mix together, or stop it for all
        Tab  before the song: all together, who leads, or whose turn it is; after a turn: the next one's
        w  before the song: swap the parts of the song
        p  pause or resume                ← →  seek 5 s back or forward
        r  sing again: a new take         e  after the song: change your mix
        n  before or after the song: choose the next one, as the host
        g  guide vocal, for you alone: 100, 20 or 0 %
        q  leave; in mid-song after a question
        ↑ ↓  after the song: select a voice of the mix;  ← →  by 1 dB
        """

    private var question: Question?
    /// The name of the voice whose balance the arrows change; nil before they do.
    private var voice: String?

    /// Handles a key. Returns nil for a key of the call. Any key closes an open question.
    /// - Parameters:
    ///   - joinRequests: the guests who ask to join, whom `y` and `n` answer too.
    ///   - isAsked: true if `y` and `n` answer another question of the call.
    mutating func take(
        _ key: Key, _ status: LiveDuetStatus, _ joinRequests: [JoinRequestID], isHost: Bool = false,
        isAsked: Bool = false
    ) -> Action? {
        let asked = question
        question = nil
        if let asked, let isAgreed = RoomKeyBindings.consent(for: key) {
            return Self.answer(isAgreed, to: asked, status, joinRequests)
        }
        if status.duet.phase.isSong, let subject = Self.subject(of: key) {
            question = Question(subject: subject, attempt: status.duet.attempt, joinRequests: joinRequests)
            let take = status.duet.take
            return .ask(
                subject == .leave
                    ? DuetSentences.leaveQuestion(attempt: take) : DuetSentences.singAgainQuestion(attempt: take))
        }
        if joinRequests.isEmpty, !isAsked, let action = Self.nextSong(key, status, isHost: isHost) { return action }
        if let action = balance(key, status) { return action }
        if let order = Self.order(for: key, status) { return .perform(order) }
        if let words = Self.answer(to: key, status) { return .say(words) }
        return Self.owns(key, status) ? .ignore : nil
    }

    /// Returns the voice of the mix whose balance the arrows change; nil before they do.
    func selectedVoice(_ status: LiveDuetStatus) -> MixBalance.Voice? {
        status.balance.voices.first { $0.name == voice }
    }

    /// After the song, selects a voice of the mix by ↑ and ↓, and changes it by ← and →. The first key selects a voice.
    private mutating func balance(_ key: Key, _ status: LiveDuetStatus) -> Action? {
        let voices = status.balance.voices
        guard status.duet.phase.isOver, status.mixPath != nil, !voices.isEmpty,
            [.up, .down, .left, .right].contains(key)
        else { return nil }
        let selected = voices.firstIndex { $0.name == voice }
        let first = voices.firstIndex { !$0.isSong } ?? 0
        switch key {
        case .up, .down:
            let step = key == .up ? -1 : 1
            voice = voices[selected.map { ($0 + step + voices.count) % voices.count } ?? first].name
            return .ignore
        default:
            let present = voices[selected ?? first]
            voice = present.name
            return .perform(.balance(voice: present.name, decibels: present.decibels + (key == .left ? -1 : 1)))
        }
    }

    private static func answer(
        _ isAgreed: Bool, to question: Question, _ status: LiveDuetStatus, _ joinRequests: [JoinRequestID]
    ) -> Action {
        guard joinRequests == question.joinRequests else { return .say(DuetSentences.questionChanged) }
        guard isAgreed else { return .say(DuetSentences.songGoesOn) }
        guard status.duet.attempt == question.attempt, status.duet.phase.isSong else {
            return question.subject == .leave ? .leave : .say(DuetSentences.takeIsOver)
        }
        return question.subject == .leave ? .leave : .perform(.singAgain)
    }

    /// Lets the host choose the next song by `n`, unless a song plays.
    private static func nextSong(_ key: Key, _ status: LiveDuetStatus, isHost: Bool) -> Action? {
        guard [.character("n"), .character("N")].contains(key), status.duet.song != nil else { return nil }
        guard isHost else { return .say(DuetSentences.hostChooses) }
        return status.duet.allowsChoice ? .chooseSong : .say(DuetSentences.choiceEnded)
    }

    /// Returns the question that a key opens in mid-song; nil for none.
    private static func subject(of key: Key) -> Question.Subject? {
        switch key {
        case .character("r"), .character("R"): .singAgain
        case .character("q"), .character("Q"): .leave
        default: nil
        }
    }

    /// Returns true if a key is never one of the call while there is a song: `r` would end the recording of the take.
    static func owns(_ key: Key, _ status: LiveDuetStatus) -> Bool {
        status.duet.song != nil && [.character("r"), .character("R")].contains(key)
    }

    /// Returns the order of a key that needs no question; nil for a key that is not about the duet now.
    static func order(for key: Key, _ status: LiveDuetStatus) -> DuetOrder? {
        let duet = status.duet
        switch (key, duet.phase) {
        case (.enter, .agreeing) where duet.phaseOfOthers?.isOver == true: return nil
        case (.enter, .agreeing) where !duet.singers.isEmpty || duet.hasAgreed: return .agree(!duet.hasAgreed)
        case (.tab, .agreeing) where !duet.singers.isEmpty && duet.phaseOfOthers == nil: return nextMode(duet)
        case (.character("w"), .agreeing) where duet.phaseOfOthers == nil,
            (.character("W"), .agreeing) where duet.phaseOfOthers == nil:
            return duet.part.map { .setPart(DuetPart.other($0)) }
        case (.enter, .ended) where status.mixPath != nil: return .listen(true)
        case (.enter, .listening): return .listen(false)
        case (.tab, .ended) where duet.isInTurn && status.mixPath != nil: return .nextTurn
        case (.tab, .listening) where duet.isInTurn: return .nextTurn
        case (.character("g"), _), (.character("G"), _): return status.guide.map { .setGuide(gain: nextLevel($0.gain)) }
        case (.character("p"), .singing), (.character("p"), .counting): return .pause
        case (.character("p"), .paused): return .resume
        case (.left, .singing), (.left, .paused): return .seek(to: max(0, duet.position - seekStep))
        case (.right, .singing), (.right, .paused): return .seek(to: duet.position + seekStep)
        case (.character("r"), .ended), (.character("r"), .listening), (.character("R"), .ended),
            (.character("R"), .listening):
            return .singAgain
        case (.character("e"), .ended) where status.mixPath != nil: return .mix(status.preset.next)
        case (.character("e"), .listening): return .mix(status.preset.next)
        case (.character("r"), .agreeing) where duet.hasLeft || duet.phaseOfOthers?.isOver == true: return .singAgain
        default: return nil
        }
    }

    /// The levels of the guide vocal, in the order of the key.
    private static let guideLevels: [Float] = [1, 0.2, 0]

    /// Returns the next lower level of the guide vocal; the highest after the lowest.
    private static func nextLevel(_ gain: Float) -> Float { guideLevels.first { $0 < gain } ?? guideLevels[0] }

    /// Returns the next mode in the order: together, the local singer leads, each other one leads, and each has the turn. After a turn
    /// another mode would forget the earlier voices, so then only the turn changes.
    private static func nextMode(_ duet: DuetStatus<MemberID>) -> DuetOrder? {
        let leaders = [duet.own].compactMap(\.self) + duet.singers.map(\.member)
        let turns = leaders.map { DuetMode.inTurn($0) }
        let hasEarlierVoices = duet.isInTurn && duet.keptAttempt != nil
        let modes = hasEarlierVoices ? turns : [DuetMode.together] + leaders.map { DuetMode.led(by: $0) } + turns
        let present = duet.mode.flatMap { modes.firstIndex(of: $0) } ?? 0
        return .setMode(modes[(present + 1) % modes.count])
    }

    /// Returns the sentence for a key that does nothing now; nil for any other key.
    static func answer(to key: Key, _ status: LiveDuetStatus) -> String? {
        switch (key, status.duet.phase) {
        case (.enter, .agreeing) where status.duet.phaseOfOthers?.isOver == true: DuetSentences.songOver
        case (.enter, .agreeing) where status.duet.singers.isEmpty: "Nobody else is here yet."
        case (.character("g"), _) where status.duet.song != nil, (.character("G"), _) where status.duet.song != nil:
            status.guide == nil ? DuetSentences.refused(.noGuide) : nil
        case (.character("p"), .listening), (.left, .listening), (.right, .listening):
            "The mix cannot be paused or moved. Enter stops it for all."
        default: nil
        }
    }
}
