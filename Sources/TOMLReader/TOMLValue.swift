// SPDX-License-Identifier: Apache-2.0

/// A value of a TOML document, with its position.
package struct TOMLValue: Sendable {
    package enum Content: Sendable {
        /// The entries in the order of their positions.
        case table([Entry])
        case array([TOMLValue])
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        /// A date, a time or both, as written.
        case time(String)
    }
    package struct Entry: Sendable {
        package var key: String
        /// The position where the key is first named.
        package var place: SourcePlace
        package var value: TOMLValue
    }

    /// The maximum depth of nested tables and arrays. The limit exists because values are freed recursively.
    package static let maximumDepth = 100
    /// The maximum size of a document in bytes.
    package static let maximumByteCount = 16 << 20

    package var content: Content
    /// The position at which the value begins; for a table with a header, the position of its name in the header.
    package var place: SourcePlace

    /// Parses a document of TOML 1.0 (toml.io/en/v1.0.0), which may begin with a byte order mark.
    /// - Parameter bytes: UTF-8.
    package init(parsing bytes: [UInt8]) throws(TOMLError) {
        var parser = try TOMLParser(bytes)
        self = try parser.document()
    }

    /// The kind of the value, for messages.
    package var kind: String {
        switch content {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer, .number: "a number"
        case .boolean: "true or false"
        case .time: "a date or time"
        }
    }

    init(_ content: Content, _ place: SourcePlace) {
        self.content = content
        self.place = place
    }
}
