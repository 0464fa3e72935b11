// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall

struct SetCallEffects: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "effects", abstract: "Show, replace or change the effects of your voice.",
        discussion: """
            Without arguments, shows the effects; with the name of one, its parameters. 'earshot effects' lists all effects and parameters.
            """)

    static let examples = [
        CommandExample("Add a reverb and a limiter", "earshot call effects set reverb:large-hall,mix=20 limiter"),
        CommandExample("Make the reverb louder", "earshot call effects reverb mix 40"),
        CommandExample("Remove all effects", "earshot call effects none"),
    ]

    @Argument(
        help: ArgumentHelp(
            "set EFFECT…, as for --effect; none; or NAME PARAMETER VALUE. NAME is an effect's name or number.",
            valueName: "change"))
    var words: [String] = []

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The meaning of the arguments.
    enum Request: Equatable {
        case list
        /// Shows the parameters of an effect.
        case show(String)
        case perform(LiveCallCommand)
    }

    func validate() throws { _ = try request() }

    func request() throws -> Request {
        switch (words.first, words.count) {
        case (nil, _): return .list
        case ("none", 1): return .perform(.setEffects([]))
        case ("set", 2...): return .perform(.setEffects(Array(words.dropFirst())))
        case ("set", _): throw ValidationError("set needs an effect, such as: earshot call effects set reverb")
        case (let effect?, 1): return .show(effect)
        case (let effect?, 3):
            // ArgumentList writes negative numbers with the minus sign U+2212.
            let value = words[2].replacing("\u{2212}", with: "-")
            return .perform(.setEffectParameter(words[1], of: effect, to: value))
        default:
            throw ValidationError(
                "use: set EFFECT, none, or EFFECT PARAMETER VALUE, such as: earshot call effects reverb mix 40"
            )
        }
    }

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        guard case .perform(let command) = try request() else { throw ValidationError("nothing to change") }
        return command
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        EffectSentences.list(try client.status().effects)
    }

    func run() throws {
        switch try request() {
        case .perform: try control()
        case .list:
            try Failure.reporting {
                let text = EffectSentences.list(try call.connect().status().effects)
                try Terminal.output(TerminalText.sanitized(text) + "\n")
            }
        case .show(let name): try Failure.reporting { try show(name) }
        }
    }

    private func show(_ name: String) throws {
        let effects = try call.connect().status().effects
        guard let effect = Self.effect(name, effects?.units ?? []) else {
            let reason = "Your voice has no effect '\(name)'"
            throw Failure(ErrorText.join(reason, EffectSentences.list(effects)), status: Failure.usage)
        }
        try Terminal.output(EffectSentences.table(effect, hasColour: Terminal.outputHasColour))
    }

    /// Returns the effect with a number from 1, or the first one with a name; nil if there is none.
    static func effect(_ text: String, _ effects: [EffectsDocument.Unit]) -> EffectsDocument.Unit? {
        if let number = Int(text) { return effects.indices.contains(number - 1) ? effects[number - 1] : nil }
        return effects.first { $0.name.lowercased() == text.lowercased() }
    }
}
