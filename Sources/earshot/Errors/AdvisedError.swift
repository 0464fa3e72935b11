// SPDX-License-Identifier: Apache-2.0

/// An error for which the program has advice.
protocol AdvisedError: Error, CustomStringConvertible {
    /// Sentences that say what to do; nil if ``description`` suffices.
    var advice: String? { get }
}

/// The text of an error for the user. Libraries say what happened; the program adds what to do.
enum ErrorText {
    /// Returns the error's description and its advice: 'what happened. What to do.'
    static func text(_ error: any Error) -> String {
        if let failure = error as? Failure { return failure.line }
        return join("\(error)", (error as? any AdvisedError)?.advice)
    }

    static func join(_ description: String, _ advice: String?) -> String {
        guard let advice else { return description }
        return description + (description.last.map { ".?!".contains($0) } == true ? " " : ". ") + advice
    }

    /// Returns 'Did you mean …?' with the similar names, then `otherwise`. Returns only `otherwise` if no name is similar.
    static func suggestion(_ near: [String], otherwise: String) -> String {
        guard !near.isEmpty else { return otherwise }
        let names = near.map { "'\($0)'" }.joined(separator: near.count == 2 ? " or " : ", ")
        return "Did you mean \(names)? \(otherwise)"
    }
}

extension Terminal {
    /// Prints an error as a warning, with advice.
    static func warn(_ error: any Error) { warn(ErrorText.text(error)) }

    /// Prints an error with advice.
    static func say(_ error: any Error) { say(ErrorText.text(error)) }
}
