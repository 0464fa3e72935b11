// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDuet
import EarshotLiveCall

struct ControlDuet: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "duet", abstract: "Show and control the duet of the call.",
        discussion: """
            Without arguments, shows the duet. agree and withdraw answer the question before a take; pause, resume and seek 1:30, +5s or -5s change the song for all; again begins a new take, also in mid-song; listen plays the mix for all, and stop ends it; mix stage makes your mix again with that preset of earshot mix.
            """)

    static let examples = [
        CommandExample("Agree to sing and to be recorded", "earshot call duet agree"),
        CommandExample("Go back ten seconds, for all", "earshot call duet seek -10s"),
        CommandExample("Listen to the mix together", "earshot call duet listen"),
    ]

    @Argument(
        help: ArgumentHelp("One of the words above.", valueName: "word"),
        completion: .list(["agree", "withdraw", "pause", "resume", "seek", "again", "listen", "stop", "mix"]))
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
            guard let order = request.order(for: duet) else {
                return try Terminal.output(DuetSentences.status(duet, status.participants) + "\n")
            }
            if let words = request.obstacle(duet) { throw Failure(words, status: Failure.unavailable) }
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

    init(_ words: [String]) throws {
        switch (words.first, words.count) {
        case (nil, _): self = .show
        case ("agree", 1): self = .order(.agree(true))
        case ("withdraw", 1): self = .order(.agree(false))
        case ("pause", 1): self = .order(.pause)
        case ("resume", 1): self = .order(.resume)
        case ("again", 1): self = .order(.singAgain)
        case ("listen", 1): self = .order(.listen(true))
        case ("stop", 1): self = .order(.listen(false))
        case ("mix", 2):
            guard let preset = MixPreset.named(words[1]) else {
                throw ValidationError("use a preset: \(MixPreset.all.map(\.name).joined(separator: ", "))")
            }
            self = .order(.mix(preset))
        case ("seek", 2):
            switch try AccompanimentRequest(words) {
            case .seek(let change): self = .seek(by: change)
            case .control(.seek(let seconds)): self = .order(.seek(to: seconds))
            default: throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
            }
        case ("seek", _): throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
        default:
            throw ValidationError(
                "use one of: agree, withdraw, pause, resume, seek 1:30, again, listen, stop, mix stage")
        }
    }

    /// Returns the order for a duet; nil to show it.
    func order(for duet: DuetDocument) -> DuetOrder? {
        switch self {
        case .show: nil
        case .order(let order): order
        case .seek(let change): .seek(to: max(0, duet.seconds + change))
        }
    }

    /// Returns the reason that an order would do nothing; nil if it does something.
    func obstacle(_ duet: DuetDocument) -> String? {
        let isUseful: Bool
        switch order(for: duet) {
        case nil, .agree(false)?, .listen(true)?, .singAgain?, .mix?: return nil
        case .agree(true)?:
            if duet.isOver { return "The song is over. Sing it again: earshot call duet again" }
            return duet.phase == "agreeing" || duet.phase == "gettingSong" ? nil : "You sing this take already."
        case .pause?: isUseful = duet.isSong && duet.phase != "paused"
        case .resume?: isUseful = duet.phase == "paused"
        case .seek?: isUseful = duet.isSong
        case .listen(false)?: isUseful = duet.phase == "listening"
        }
        if isUseful { return nil }
        return switch order(for: duet) {
        case .resume?: "The song is not paused. See: earshot call duet"
        case .listen?: "The mix does not play. See: earshot call duet"
        default: "The song does not play. See: earshot call duet"
        }
    }
}
