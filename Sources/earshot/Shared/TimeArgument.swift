// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A duration on the command line: seconds, or numbers with units, such as `1.5`, `30s`, `2m30s`, `1h` or `200ms`.
enum TimeArgument {
    private static let units: [(name: String, seconds: Double)] = [("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3_600)]
    /// The maximum in seconds: a year.
    private static let longest = 86_400.0 * 365

    /// Returns the seconds of a duration above 0.
    static func above0(_ text: String) throws -> Double {
        guard let seconds = seconds(text), seconds > 0, seconds <= longest else {
            throw ValidationError("use a time longer than 0, up to one year, such as 30s, 2m or 1h")
        }
        return seconds
    }

    /// Returns the seconds of a duration of 0 or more.
    static func from0(_ text: String) throws -> Double {
        guard let seconds = seconds(text), (0...longest).contains(seconds) else {
            throw ValidationError("use a time from 0 to one year, such as 0.5, 30s or 2m")
        }
        return seconds
    }

    /// Returns the seconds of a part of a divided file: 0.1 or more.
    static func part(_ text: String) throws -> Double {
        guard let seconds = seconds(text), (0.1...longest).contains(seconds) else {
            throw ValidationError("use a time from 0.1 s to one year, such as 30s, 10m or 1h")
        }
        return seconds
    }

    /// Returns the seconds; nil if the text is no duration. A number without a unit is seconds.
    static func seconds(_ text: String) -> Double? {
        if let number = Double(text) { return number.isFinite ? number : nil }
        var remaining = Substring(text)
        var sum = 0.0
        while !remaining.isEmpty {
            let digits = remaining.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let name = remaining.dropFirst(digits.count).prefix { $0.isLetter }
            guard let number = Double(digits), let unit = units.first(where: { $0.name == name }) else { return nil }
            sum += number * unit.seconds
            remaining = remaining.dropFirst(digits.count + name.count)
        }
        return text.isEmpty ? nil : sum
    }
}
