// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

struct ControlDuet: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "duet", abstract: "Show and control the duet of the call.",
        discussion: """
            Without arguments, shows the duet. agree and withdraw answer the question before a take; song FILE, or its http address, is the host's next song; lead NAME (lead alone: you) lets the others hear the song in time with that voice, and together lets all hear it at one instant; turn NAME (turn alone: you) lets you take turns, beginning with that singer, and next begins the next one's turn; pause, resume and seek 1:30, +5s or -5s change the song for all; again begins a new take, also in mid-song; listen plays the mix for all, and stop ends it; mix stage makes your mix again with that preset of earshot mix, and balance Ben -2dB with that voice quieter; guide 20% lets you hear the guide vocal at that level; part first or part second is the part that you sing.
            """)

    static let examples = [
        CommandExample("Agree to sing and to be recorded", "earshot call duet agree"),
        CommandExample("Let Anna lead the next take over a slow line", "earshot call duet lead Anna"),
        CommandExample("Go back ten seconds, for all", "earshot call duet seek -10s"),
        CommandExample("Listen to the mix together", "earshot call duet listen"),
        CommandExample("Go on with another song, as the host", "earshot call duet song moon.ogg"),
    ]

    @Argument(
        help: ArgumentHelp("One of the words above.", valueName: "word"),
        completion: .list([
            "agree", "withdraw", "lead", "together", "turn", "next", "pause", "resume", "seek", "again", "listen",
            "stop", "mix", "balance", "song", "guide", "part",
        ]))
    var words: [String] = []

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws { _ = try DuetRequest(words) }

    func run() throws {
        let request = try DuetRequest(words)
        try Failure.reporting {
            let client = try call.connect()
            let status = try client.status()
            guard let duet = status.duet, duet.song != nil else {
                if request == .show { return try Terminal.output(DuetSentences.noDuet + "\n") }
                throw Failure(DuetSentences.noDuet, status: Failure.unavailable)
            }
            guard var order = try request.order(for: duet, in: status) else {
                return try Terminal.output(DuetSentences.status(duet, status.participants) + "\n")
            }
            if let words = order.obstacle(duet) { throw Failure(words, status: Failure.unavailable) }
            if case .chooseSong(let name, let beat) = order {
                guard status.localParticipant?.isHost == true else {
                    throw Failure(DuetSentences.hostChooses, status: Failure.unavailable)
                }
                order = .chooseSong(path: try HostSong(name, to: nil).path, beat: beat)
            }
            try client.perform(order)
            Terminal.say(DuetSentences.done(order, duet, status.participants))
        }
    }
}

/// The arguments of `earshot call duet`.
enum DuetRequest: Equatable {
    /// Shows the duet.
    case show
    case order(DuetOrder)
    /// Seeks by a number of seconds, backwards if negative.
    case seek(by: Double)
    /// Lets the participant of this name lead; nil for the local one.
    case lead(String?)
    /// Lets the singers take turns, beginning with the participant of this name; nil for the local one.
    case turn(String?)

    init(_ words: [String]) throws {
        switch (words.first, words.count) {
        case (nil, _): self = .show
        case ("agree", 1): self = .order(.agree(true))
        case ("withdraw", 1): self = .order(.agree(false))
        case ("pause", 1): self = .order(.pause)
        case ("resume", 1): self = .order(.resume)
        case ("together", 1): self = .order(.setMode(.together))
        case ("lead", 1): self = .lead(nil)
        case ("lead", 2): self = .lead(words[1])
        case ("turn", 1): self = .turn(nil)
        case ("turn", 2): self = .turn(words[1])
        case ("next", 1): self = .order(.nextTurn)
        case ("again", 1): self = .order(.singAgain)
        case ("guide", 2):
            guard let gain = try? VolumeArgument.gain(words[1]), gain <= 1 else {
                throw ValidationError("use: guide 20%, from 0% to 100%")
            }
            self = .order(.setGuide(gain: gain))
        case ("guide", _): throw ValidationError("use: guide 20%, from 0% to 100%")
        case ("part", 2) where words[1] == "first": self = .order(.setPart(1))
        case ("part", 2) where words[1] == "second": self = .order(.setPart(2))
        case ("part", _): throw ValidationError("use: part first, or part second")
        case ("song", 2): self = .order(.chooseSong(path: words[1], beat: nil))
        case ("listen", 1): self = .order(.listen(true))
        case ("stop", 1): self = .order(.listen(false))
        case ("mix", 2):
            guard let preset = MixPreset.named(words[1]) else {
                throw ValidationError("use a preset: \(MixPreset.all.map(\.name).joined(separator: ", "))")
            }
            self = .order(.mix(preset))
        case ("balance", 3):
            let text = words[2].replacing("\u{2212}", with: "-").lowercased()
            let number = text.hasSuffix("db") ? String(text.dropLast(2)) : text
            guard let decibels = Float(number.trimmingCharacters(in: .whitespaces)),
                MixBalance.range.contains(decibels)
            else { throw ValidationError("use: balance NAME -2dB, from -24dB to 12dB") }
            self = .order(.balance(voice: words[1], decibels: decibels))
        case ("balance", _): throw ValidationError("use: balance NAME -2dB, from -24dB to 12dB")
        case ("seek", 2):
            switch try AccompanimentRequest(words) {
            case .seek(let change): self = .seek(by: change)
            case .control(.seek(let seconds)): self = .order(.seek(to: seconds))
            default: throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
            }
        case ("seek", _): throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
        default:
            throw ValidationError(
                "use one of: agree, withdraw, lead NAME, together, turn NAME, next, pause, resume, seek 1:30, again, listen, stop, mix stage, balance NAME -2dB, song FILE, guide 20%, part first"
            )
        }
    }

    /// Returns the order for a duet; nil to show it.
    func order(for duet: DuetDocument, in status: StatusDocument) throws(Failure) -> DuetOrder? {
        switch self {
        case .show: return nil
        case .order(let order): return order
        case .seek(let change):
            let last = (duet.duration ?? .infinity) - 0.1
            return .seek(to: max(0, min(last, duet.seconds + change)))
        case .lead(let name): return .setMode(.led(by: try Self.singer(name, status)))
        case .turn(let name): return .setMode(.inTurn(try Self.singer(name, status)))
        }
    }

    /// Returns the participant of a name; the local one for nil.
    private static func singer(_ name: String?, _ status: StatusDocument) throws(Failure) -> MemberID {
        if let name { return try ListedPerson.participant(name, status).id }
        guard let own = status.localParticipant.flatMap({ MemberID($0.id) }) else {
            throw Failure("The call is not in a room yet.", status: Failure.unavailable)
        }
        return own
    }
}

extension DuetOrder {
    /// Returns the reason that the order would do nothing; nil if it does something.
    func obstacle(_ duet: DuetDocument) -> String? {
        let isUseful: Bool
        switch self {
        case .agree(false), .listen(true), .singAgain, .mix, .balance: return nil
        case .setGuide: return duet.guideLevel == nil ? DuetSentences.refused(.noGuide) : nil
        case .chooseSong:
            let isPlaying = ([duet.phase, duet.phaseOfOthers].compactMap(\.self)).contains {
                DuetDocument.isSong($0) || $0 == "findingTime"
            }
            return isPlaying ? DuetSentences.choiceEnded : nil
        case .agree(true):
            if duet.isOver { return "The song is over. Sing it again: earshot call duet again" }
            return duet.phase == "agreeing" || duet.phase == "gettingSong" ? nil : "You sing this take already."
        case .setMode, .setPart:
            if ["agreeing", "gettingSong"].contains(duet.phase) { return nil }
            let subject = if case .setPart = self { "part" } else { "mode" }
            return "The \(subject) can be chosen only before a take. Begin one: earshot call duet again"
        case .nextTurn:
            guard duet.mode == "inTurn" else {
                return "You are not taking turns. Begin that: earshot call duet turn"
            }
            return duet.isOver ? nil : "The turn is not over. See: earshot call duet"
        case .pause: isUseful = duet.isSong && duet.phase != "paused"
        case .resume: isUseful = duet.phase == "paused"
        case .seek(let seconds):
            if let duration = duet.duration, seconds >= duration, duet.isSong {
                return "The song ends at \(PlayLine.clock(duration))."
            }
            isUseful = duet.isSong
        case .listen(false): isUseful = duet.phase == "listening"
        }
        if isUseful { return nil }
        return switch self {
        case .resume: "The song is not paused. See: earshot call duet"
        case .listen: "The mix does not play. See: earshot call duet"
        default: "The song does not play. See: earshot call duet"
        }
    }
}
