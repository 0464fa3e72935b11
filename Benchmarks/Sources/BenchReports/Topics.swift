// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The topics by name, and those chosen on the command line: `[--check] [--long] [--OPTION VALUE] [TOPIC…]`.
public struct Topics {
    /// True to measure more, for longer.
    public private(set) var isLong = false
    private var isChecking = false
    private var values: [String: String] = [:]
    private var chosen: [String] = []

    /// An error in an argument.
    public struct WrongArgument: Error, CustomStringConvertible {
        /// One line.
        public var description: String
        /// Creates an error with this description.
        public init(_ description: String) { self.description = description }
    }

    /// - Parameters:
    ///   - topics: all topics in their order.
    ///   - longTopics: topics that run only with `--long` or by name.
    ///   - namedTopics: topics that run only by name.
    ///   - options: names of options with a value, without their dashes.
    public init(
        _ arguments: [String], topics: [String], longTopics: Set<String> = [], namedTopics: Set<String> = [],
        options: Set<String> = []
    ) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--check": isChecking = true
            case "--long": isLong = true
            case _ where argument.hasPrefix("--") && options.contains(String(argument.dropFirst(2))):
                guard let value = rest.popFirst() else { throw WrongArgument("\(argument) wants a value") }
                values[String(argument.dropFirst(2))] = value
            case _ where topics.contains(argument): chosen.append(argument)
            default:
                throw WrongArgument("\(argument) is unknown; topics are \(topics.joined(separator: ", "))")
            }
        }
        guard chosen.isEmpty else { return }
        chosen = topics.filter { !namedTopics.contains($0) && (isLong || !longTopics.contains($0)) }
    }

    /// Returns the value of an option.
    public func value(_ option: String) -> String? { values[option] }

    /// Returns the number given for an option.
    public func number(_ option: String, atLeast least: Double, otherwise: Double) throws -> Double {
        guard let text = values[option] else { return otherwise }
        guard let number = Double(text), number >= least else {
            throw WrongArgument("--\(option) wants a number, \(decimal(least, 0)) at least")
        }
        return number
    }

    /// Prints a line for each figure. Returns false if a checked figure misses its limit.
    public func run(_ reports: (String) throws -> [Report]) throws -> Bool {
        var missed = 0
        for topic in chosen {
            for report in try reports(topic) {
                print("\(topic): \(report)")
                fflush(nil)
                if report.verdict == .missed { missed += 1 }
            }
        }
        if isChecking, missed > 0 { print("error: \(missed) figures missed their limits") }
        return missed == 0 || !isChecking
    }
}
