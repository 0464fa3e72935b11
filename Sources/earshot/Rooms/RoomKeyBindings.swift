// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotRooms

/// Turns keys into commands while the user is in a room. It remembers a question that a number will answer.
struct RoomKeyBindings {
    enum Action: Equatable {
        case perform(LiveCallCommand)
        case quit, help
        /// Prints a line; nothing else happens.
        case say(String)
    }

    private enum Mode: Equatable {
        case idle
        /// Which question is meant.
        case chosen(JoinRequestID)
        case removing, blocking
    }

    private var mode = Mode.idle

    static func hint(isHost: Bool) -> String {
        isHost
            ? "keys: y n b answer who asks, m mutes, r removes, b blocks, ? help, q leaves"
            : "keys: m mutes, ? help, q leaves"
    }

    static func help(isHost: Bool) -> String {
        let own = """
            m  mute oneself, speak again      ?  this
            q  leave                          Ctrl-C  the same; twice: at once
            """
        guard isHost else { return own }
        return """
            y  let in who asks                r  remove somebody, by number
            n  say no                         b  block: who asks, else somebody by number
            1… whom y, n and b are about, where several ask

            """ + own
    }

    /// Handles a key. Join requests and participants are numbered from 1 in the snapshot's order.
    mutating func take(_ key: Key, _ snapshot: LiveCallSnapshot) -> Action? {
        let (questions, others) = (snapshot.joinRequests.map(\.id), snapshot.participants)
        let was = mode
        mode = .idle
        switch key {
        case .character("m"), .character("M"), .character(" "): return .perform(.setMuted(!snapshot.isMuted))
        case .character("q"), .character("Q"): return .quit
        case .character("?"), .character("h"): return .help
        case .escape: return was == .idle ? nil : .say("nothing was done")
        default: break
        }
        guard snapshot.isHost else { return nil }
        switch key {
        case .character("y"), .character("Y"): return answer(questions, was) { .admit($0) }
        case .character("n"), .character("N"): return answer(questions, was) { .decline($0) }
        case .character("b"), .character("B"):
            return questions.isEmpty ? begin(.blocking, "block", others) : answer(questions, was) { .blockRequest($0) }
        case .character("r"), .character("R"): return begin(.removing, "remove", others)
        case .character(let digit):
            guard digit.isASCII, let number = digit.wholeNumberValue else { return nil }
            return pick(number, questions, others, was)
        default: return nil
        }
    }

    private func answer(_ questions: [JoinRequestID], _ mode: Mode, _ make: (JoinRequestID) -> LiveCallCommand)
        -> Action
    {
        if case .chosen(let question) = mode, questions.contains(question) { return .perform(make(question)) }
        guard let first = questions.first else { return .say("nobody asks to join") }
        return questions.count == 1
            ? .perform(make(first))
            : .say("\(questions.count) ask: press 1 to \(min(9, questions.count)) for whom, then y, n or b")
    }

    private mutating func begin(_ mode: Mode, _ word: String, _ others: [Participant]) -> Action {
        guard !others.isEmpty else { return .say("nobody else is in the room") }
        self.mode = mode
        let names = others.prefix(9).enumerated().map { "\($0 + 1) \($1.name)" }.joined(separator: ", ")
        return .say("\(word) whom? \(names); Escape: nobody")
    }

    private mutating func pick(_ number: Int, _ questions: [JoinRequestID], _ others: [Participant], _ was: Mode)
        -> Action?
    {
        let isNone = Action.say("there is no number \(number)")
        switch was {
        case .removing: return others.indices.contains(number - 1) ? .perform(.remove(others[number - 1].id)) : isNone
        case .blocking: return others.indices.contains(number - 1) ? .perform(.block(others[number - 1].id)) : isNone
        case .idle, .chosen:
            guard !questions.isEmpty else { return nil }
            guard questions.indices.contains(number - 1) else { return isNone }
            mode = .chosen(questions[number - 1])
            return .say("\(number): y lets in, n declines, b blocks")
        }
    }
}
