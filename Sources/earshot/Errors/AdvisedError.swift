// SPDX-License-Identifier: Apache-2.0

/// An error that the program knows a way out of.
protocol AdvisedError: Error, CustomStringConvertible {
    /// Sentences that say what to do; nil if ``description`` says it all.
    var advice: String? { get }
}

/// The text that a user reads of an error. Libraries say what happened; the program says what to do.
enum ErrorText {
    /// 'what happened. What to do.'
    static func text(_ error: any Error) -> String {
        if let failure = error as? Failure { return failure.line }
        return join("\(error)", (error as? any AdvisedError)?.advice)
    }

    static func join(_ description: String, _ advice: String?) -> String {
        guard let advice else { return description }
        return description + (description.last.map { ".?!".contains($0) } == true ? " " : ". ") + advice
    }

    /// 'Did you mean …?' and what lists all; the latter alone if nothing is near.
    static func suggestion(_ near: [String], otherwise: String) -> String {
        guard !near.isEmpty else { return otherwise }
        let names = near.map { "'\($0)'" }.joined(separator: near.count == 2 ? " or " : ", ")
        return "Did you mean \(names)? \(otherwise)"
    }
}

extension Terminal {
    /// Warns of an error, with what to do.
    static func warn(_ error: any Error) { warn(ErrorText.text(error)) }

    /// Says what an error is, with what to do.
    static func say(_ error: any Error) { say(ErrorText.text(error)) }
}
