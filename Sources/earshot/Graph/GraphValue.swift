import TOMLKit

/// A value of a graph file, with its place.
struct GraphValue {
    enum Content {
        /// In the file's order.
        case table([Entry])
        case array([GraphValue])
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        /// A date or a time, for which a graph has no use.
        case time
    }
    struct Entry {
        var key: String
        /// The key's.
        var place: SourcePlace
        var value: GraphValue
    }

    var content: Content
    var place: SourcePlace

    /// What it is, for messages.
    var kind: String {
        switch content {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer, .number: "a number"
        case .boolean: "true or false"
        case .time: "a date or time"
        }
    }

    /// A whole document.
    /// - Throws: ``GraphFileError`` with the place where TOML's grammar is broken.
    init(_ text: String, file: String) throws(GraphFileError) {
        // The parser takes a C string, which would end there.
        if let nul = text.unicodeScalars.firstIndex(of: "\0") {
            let before = text.unicodeScalars[..<nul].split(separator: "\n", omittingEmptySubsequences: false)
            let place = SourcePlace(line: before.count, column: (before.last?.count ?? 0) + 1)
            throw GraphFileError(file: file, place: place, problem: "a zero byte; save the file as plain text")
        }
        do {
            let table = try TOMLTable(string: text)
            self.init(table, TOMLPlaces(text), [], .start)
        } catch let error as TOMLParseError {
            let begin = error.source.begin
            throw GraphFileError(
                file: file, place: SourcePlace(line: max(1, begin.line), column: max(1, begin.column)),
                problem: "no TOML: \(error.description)")
        } catch {
            throw GraphFileError(file: file, place: .start, problem: "no TOML: \(error)")
        }
    }

    private init(_ table: TOMLTable, _ places: TOMLPlaces, _ path: [TOMLPlaces.Step], _ outer: SourcePlace) {
        place = places.values[path] ?? outer
        content = Self.content(table, places, path, place)
    }

    private static func content(
        _ table: TOMLTable, _ places: TOMLPlaces, _ path: [TOMLPlaces.Step], _ outer: SourcePlace
    ) -> Content {
        let entries = table.keys.compactMap { key -> Entry? in
            guard let value = table[key] else { return nil }
            let path = path + [.key(key)]
            return Entry(key: key, place: places.keys[path] ?? outer, value: GraphValue(value, places, path, outer))
        }
        return .table(entries.sorted { $0.place < $1.place })
    }

    private init(
        _ value: any TOMLValueConvertible, _ places: TOMLPlaces, _ path: [TOMLPlaces.Step], _ outer: SourcePlace
    ) {
        place = places.values[path] ?? outer
        let inner = place
        switch value.type {
        case .table: content = value.table.map { Self.content($0, places, path, inner) } ?? .table([])
        case .array:
            content = .array(
                (value.array.map { Array($0) } ?? []).enumerated().map {
                    GraphValue($1, places, path + [.index($0)], inner)
                })
        case .string: content = .string(value.string ?? "")
        case .int: content = value.int.map { .integer($0) } ?? .time
        case .double: content = value.double.map { .number($0) } ?? .time
        case .bool: content = value.bool.map { .boolean($0) } ?? .time
        case .date, .time, .dateTime: content = .time
        }
    }
}

/// What is wrong with a graph file, and where.
struct GraphFileError: Error, Hashable, CustomStringConvertible {
    var file: String
    var place: SourcePlace
    /// What is wrong and, where that is not plain, what to do.
    var problem: String

    var description: String { "\(file):\(place.line):\(place.column): \(problem)" }
}
