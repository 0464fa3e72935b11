// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotTOMLReader

/// The fields of a table in a graph file, read by name, type and range.
struct GraphFields {
    let file: String
    /// The table's name in messages, such as `player 'voice'`.
    let what: String
    var place: SourcePlace
    private let entries: [TOMLValue.Entry]

    /// - Parameter allowed: the names of the allowed fields. Any other field is an error that names similar fields.
    init(_ value: TOMLValue, what: String, file: String, allowed: [String]) throws(GraphFileError) {
        guard case .table(let entries) = value.content else {
            throw GraphFileError(file: file, place: value.place, problem: "\(what) must be a table, not \(value.kind)")
        }
        for entry in entries where !allowed.contains(entry.key) {
            let near = suggestion(entry.key, in: allowed)
            throw GraphFileError(
                file: file, place: entry.place,
                problem: "\(what) has no field '\(entry.key)'"
                    + (near.isEmpty ? "; supported: \(allowed.joined(separator: ", "))" : near))
        }
        self.file = file
        self.what = what
        self.entries = entries
        place = value.place
    }

    func error(_ problem: String, at place: SourcePlace? = nil) -> GraphFileError {
        GraphFileError(file: file, place: place ?? self.place, problem: problem)
    }

    func entry(_ key: String) -> TOMLValue.Entry? { entries.first { $0.key == key } }

    func string(_ key: String) throws(GraphFileError) -> (text: String, place: SourcePlace)? {
        guard let value = entry(key)?.value else { return nil }
        guard case .string(let text) = value.content else { throw mismatch(key, "a string in quotes", value) }
        return (text, value.place)
    }

    func required(_ key: String, example: String) throws(GraphFileError) -> (text: String, place: SourcePlace) {
        guard let found = try string(key) else {
            throw error("\(what) needs '\(key)', such as \(key) = \"\(example)\"")
        }
        return found
    }

    func boolean(_ key: String) throws(GraphFileError) -> Bool? {
        guard let value = entry(key)?.value else { return nil }
        guard case .boolean(let flag) = value.content else { throw mismatch(key, "true or false", value) }
        return flag
    }

    func integer(_ key: String, in range: ClosedRange<Int>) throws(GraphFileError) -> Int? {
        guard let value = entry(key)?.value else { return nil }
        guard case .integer(let number) = value.content else { throw mismatch(key, "a whole number", value) }
        guard range.contains(number) else {
            throw error("'\(key)' is \(number); supported: \(range.lowerBound) to \(range.upperBound)", at: value.place)
        }
        return number
    }

    func number(
        _ key: String, in range: ClosedRange<Double>, _ unit: String = ""
    ) throws(GraphFileError) -> Double? {
        guard let value = entry(key)?.value else { return nil }
        guard let number = Self.number(value) else { throw mismatch(key, "a number", value) }
        guard range.contains(number) else {
            throw error(
                "'\(key)' is \(Self.text(number)); supported: \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
                    + (unit.isEmpty ? "" : " \(unit)"), at: value.place)
        }
        return number
    }

    /// Returns a sample rate in hertz.
    func rate(_ key: String) throws(GraphFileError) -> Double? {
        guard let rate = try number(key, in: AudioFormat.sampleRates, "Hz") else { return nil }
        guard rate == rate.rounded() else {
            throw error("'\(key)' is \(rate); supported: whole numbers (Hz)", at: entry(key)?.value.place)
        }
        return rate
    }

    /// Returns the point of a field with three numbers: metres to the right, up and to the back.
    func point(_ key: String) throws(GraphFileError) -> SIMD3<Float>? {
        guard let value = entry(key)?.value else { return nil }
        guard case .array(let values) = value.content else {
            throw mismatch(key, "three numbers, such as [1, 0, -2]", value)
        }
        guard values.count == 3 else {
            throw error("'\(key)' has \(values.count) values; supported: three, such as [1, 0, -2]", at: value.place)
        }
        var point = SIMD3<Float>.zero
        for (i, value) in values.enumerated() {
            guard let number = Self.number(value), (-100_000...100_000).contains(number) else {
                throw error(
                    "'\(key)' contains \(Self.shown(value)); supported: numbers from -100000 to 100000 (metres)",
                    at: value.place)
            }
            point[i] = Float(number)
        }
        return point
    }

    func mismatch(_ key: String, _ wanted: String, _ value: TOMLValue) -> GraphFileError {
        error("'\(key)' must be \(wanted), not \(value.kind)", at: value.place)
    }

    static func number(_ value: TOMLValue) -> Double? {
        switch value.content {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    private static func shown(_ value: TOMLValue) -> String { number(value).map(text) ?? value.kind }

    /// Returns a number without a needless fraction.
    static func text(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(Float(number))"
    }
}

/// Returns a question with the names that are spelled alike, such as `; did you mean 'pan'?`; empty if there are none.
func suggestion(_ name: String, in names: [String]) -> String {
    let near = nearestNames(name, in: names)
    return near.isEmpty ? "" : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
}

extension GraphFields {
    /// Returns a parameter's value, which the file gives as a number, the name of a choice, true or false.
    func value(_ value: TOMLValue, of parameter: UnitParameter, unit: String) throws(GraphFileError) -> Float {
        let subject = "'\(parameter.identifier)' of \(unit)"
        switch (parameter.unit, value.content) {
        case (.choice(let names), .string(let name)):
            if let index = names.firstIndex(where: { $0.lowercased() == name.lowercased() }) { return Float(index) }
            throw error(
                "\(subject) cannot be '\(name)'"
                    + (nearestNames(name, in: names).isEmpty
                        ? "; supported: \(names.joined(separator: ", "))" : suggestion(name, in: names)),
                at: value.place)
        case (.toggle, .boolean(let flag)): return flag ? 1 : 0
        case (_, .integer), (_, .number):
            let number = Self.number(value) ?? .nan
            let isWhole = number == number.rounded()
            guard parameter.range.contains(Float(number)), parameter.unit.isContinuous || isWhole else {
                throw error(
                    "\(subject) is \(Self.text(number)); supported: \(ParameterFormatting.range(parameter))"
                        + (parameter.unit.isContinuous || isWhole ? "" : ", whole numbers"),
                    at: value.place)
            }
            return Float(number)
        default:
            throw error(
                "\(subject) is \(value.kind); supported: \(ParameterFormatting.range(parameter))", at: value.place)
        }
    }

    /// Returns the values of a unit's parameters in the table `key`. The file may write an identifier that contains dots as one
    /// quoted key or as nested tables.
    func parameters(_ key: String, of unit: UnitDescription) throws(GraphFileError) -> [String: Float] {
        guard let value = entry(key)?.value else { return [:] }
        var result: [String: Float] = [:]
        try collect(value, prefix: "", unit, &result)
        return result
    }

    private func collect(
        _ value: TOMLValue, prefix: String, _ unit: UnitDescription, _ result: inout [String: Float]
    ) throws(GraphFileError) {
        guard case .table(let entries) = value.content else {
            throw error(
                "'parameters' must be a table, such as { \(unit.parameters.first?.identifier ?? "mix") = 1 }",
                at: value.place)
        }
        let name = unit.component.manufacturer == "earshot" ? unit.component.subtype ?? unit.name : unit.name
        for entry in entries {
            let identifier = prefix + entry.key
            if let index = unit.index(of: identifier) {
                result[identifier] = try self.value(entry.value, of: unit.parameters[index], unit: name)
            } else if case .table = entry.value.content,
                unit.parameters.contains(where: { $0.identifier.hasPrefix(identifier + ".") })
            {
                try collect(entry.value, prefix: identifier + ".", unit, &result)
            } else {
                let near = suggestion(identifier, in: unit.parameters.map(\.identifier))
                throw error(
                    "\(name) has no parameter '\(identifier)'" + (near.isEmpty ? "; list them: earshot effects" : near),
                    at: entry.place)
            }
        }
    }
}
