// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotLiveCall
import EarshotRooms

/// Converts keys to commands while the user is in a room. Remembers a choice that takes several keys.
///
/// A question may disappear just before the user answers it, and the key would answer another question. So `y`, `n` and `b` do
/// not answer a question within ``settlingTime`` after another one was open.
struct RoomKeyBindings {
    enum Action: Equatable {
        case perform(LiveCallCommand)
        case quit, help, status
        /// The volume keys are for this participant now; nil for the whole playback.
        case select(MemberID?)
        /// A line to print, without a command to the call.
        case say(String)
    }

    private enum Mode: Equatable {
        case idle
        /// The user chose one of several join requests by its number.
        case chosen(JoinRequestID)
        case removing, blocking
    }

    /// A question that `y` and `n` answer.
    private enum Question: Equatable {
        /// These guests ask to join.
        case joining([JoinRequestID])
        /// Participants want to record the user's voice.
        case recording
    }

    /// The seconds for which a question must be open, if another question was open before it.
    static let settlingTime = 1.0

    private var mode = Mode.idle
    private var question: Question?
    /// The last time at which an open question disappeared or changed; nil before.
    private var changeTime: HostTime?
    private var effectKey = RoomEffectKey()
    private var volumeKeys = RoomVolumeKeys()
    private var voiceKeys = RoomVoiceKeys()

    /// The participant whose volume the keys change; nil for the whole playback.
    var selection: MemberID? { volumeKeys.selection }

    /// - Parameter records: true if a key starts a recording. In a duet none does.
    static func hint(isHost: Bool, records: Bool = true) -> String {
        let own = "\(records ? "r record, " : "")m mute, s status, ? help, q leave"
        return "Keys: \(isHost ? "y admit, n decline, x remove, " : "")\(own)"
    }

    /// - Parameter records: true if a key starts a recording. In a duet none does.
    static func help(isHost: Bool, records: Bool = true) -> String {
        let own = """
            m  mute or unmute\(records ? "                 r  start or stop recording" : "")
            s  status                         ?  this help
            q  leave                          Ctrl-C  leave; twice: at once
            ↑ ↓  select a participant         + -  volume by 2 dB, of the selected or all
            v  do not hear the selected participant, or hear again
            o  hear yourself: on, off, auto   t  push to talk: hold Space
            f  turn your effects off, or on again
            y, n  let others record your voice, or decline

            """ + RoomAccompanimentKeys.help
        guard isHost else { return own }
        return """
            y  admit the guest who asks       n  decline
            b  block the guest who asks, or a participant by number
            x  remove a participant by number
            1 to 9  choose one of several guests who ask

            """ + own
    }

    /// Notes the open question.
    mutating func update(_ snapshot: LiveCallSnapshot, at now: HostTime) {
        effectKey.note(snapshot.effects)
        let requests = snapshot.joinRequests.map(\.id)
        let current: Question? =
            !requests.isEmpty ? .joining(requests) : snapshot.isRecordingConsentRequested ? .recording : nil
        guard current != question else { return }
        if question != nil { changeTime = now }
        question = current
    }

    /// Handles a key. Join requests and participants are numbered from 1 in the snapshot's order. Join requests are answered
    /// before requests to record the user's voice.
    mutating func take(_ key: Key, _ snapshot: LiveCallSnapshot, at now: HostTime) -> Action? {
        update(snapshot, at: now)
        let (questions, others) = (snapshot.joinRequests.map(\.id), snapshot.participants)
        let previousMode = mode
        mode = .idle
        switch key {
        case .character("m"), .character("M"), .character(" "), .character("o"), .character("O"), .character("t"),
            .character("T"):
            return voiceKeys.take(key, snapshot, at: now)
        case .character("r"), .character("R"):
            let isRecording = snapshot.recording != nil || snapshot.isRecordingAwaited
            return .perform(isRecording ? .stopRecording : .startRecording(folder: nil))
        case .character("f"), .character("F"): return effectKey.action(snapshot)
        case .character("q"), .character("Q"): return .quit
        case .character("?"), .character("h"): return .help
        case .character("s"), .character("S"): return .status
        case .escape where previousMode != .idle: return .say("Cancelled.")
        default:
            if let action = volumeKeys.take(key, snapshot) { return action }
            if let action = RoomAccompanimentKeys.take(key, snapshot, at: now) { return action }
        }
        if isAmbiguous(key, previousMode, at: now) {
            return .say("The question changed. Press \(Self.consent(for: key) == nil ? "b" : "y or n") again.")
        }
        if question == .recording, let isAllowed = Self.consent(for: key) {
            return .perform(.allowRecording(isAllowed))
        }
        guard snapshot.isHost else { return nil }
        switch key {
        case .character("y"), .character("Y"): return answer(questions, previousMode) { .admit($0) }
        case .character("n"), .character("N"): return answer(questions, previousMode) { .decline($0) }
        case .character("b"), .character("B"):
            return questions.isEmpty
                ? begin(.blocking, "Block", others) : answer(questions, previousMode) { .blockRequest($0) }
        case .character("x"), .character("X"): return begin(.removing, "Remove", others)
        case .character(let digit):
            guard digit.isASCII, let number = digit.wholeNumberValue else { return nil }
            return pick(number, questions, others, previousMode)
        default: return nil
        }
    }

    /// Returns the command after the user released the key with which it talked; otherwise nil.
    mutating func releaseTalkKey(_ snapshot: LiveCallSnapshot, at now: HostTime) -> Action? {
        voiceKeys.release(snapshot, at: now)
    }

    /// Returns true if the key would answer a question, but may be meant for the question before it.
    private func isAmbiguous(_ key: Key, _ mode: Mode, at now: HostTime) -> Bool {
        guard let changeTime, now.seconds(since: changeTime) < Self.settlingTime else { return false }
        switch question {
        case nil: return false
        case .recording?: return Self.consent(for: key) != nil
        case .joining(let requests)?:
            // With several guests, or after a number, a key answers only the guest whose number the user pressed.
            guard requests.count == 1, mode != .chosen(requests[0]) else { return false }
            return Self.consent(for: key) != nil || [.character("b"), .character("B")].contains(key)
        }
    }

    /// Returns true for yes, false for no, and nil for any other key.
    static func consent(for key: Key) -> Bool? {
        switch key {
        case .character("y"), .character("Y"): true
        case .character("n"), .character("N"): false
        default: nil
        }
    }

    private func answer(_ questions: [JoinRequestID], _ mode: Mode, _ make: (JoinRequestID) -> LiveCallCommand)
        -> Action
    {
        if case .chosen(let question) = mode, questions.contains(question) { return .perform(make(question)) }
        guard let first = questions.first else { return .say("Nobody is asking to join.") }
        return questions.count == 1
            ? .perform(make(first))
            : .say("\(questions.count) guests ask. Press 1 to \(min(9, questions.count)), then y, n or b.")
    }

    private mutating func begin(_ mode: Mode, _ word: String, _ others: [Participant]) -> Action {
        guard !others.isEmpty else { return .say("Nobody else is in the room.") }
        self.mode = mode
        let names = others.prefix(9).enumerated().map { "\($0 + 1) \($1.name)" }.joined(separator: ", ")
        return .say("\(word) which participant? \(names) (Esc: cancel)")
    }

    private mutating func pick(
        _ number: Int, _ questions: [JoinRequestID], _ others: [Participant], _ previousMode: Mode
    )
        -> Action?
    {
        let noSuchNumber = Action.say("There is no number \(number).")
        switch previousMode {
        case .removing:
            return others.indices.contains(number - 1) ? .perform(.remove(others[number - 1].id)) : noSuchNumber
        case .blocking:
            return others.indices.contains(number - 1) ? .perform(.block(others[number - 1].id)) : noSuchNumber
        case .idle, .chosen:
            guard !questions.isEmpty else { return nil }
            guard questions.indices.contains(number - 1) else { return noSuchNumber }
            mode = .chosen(questions[number - 1])
            return .say("\(number): y admit, n decline, b block")
        }
    }
}
