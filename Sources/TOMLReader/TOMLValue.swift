// SPDX-License-Identifier: Apache-2.0

/// A value of a TOML document, with its place.
package struct TOMLValue: Sendable {
    package enum Content: Sendable {
        /// In the order of their places.
        case table([Entry])
        case array([TOMLValue])
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        /// A date, a time or both, as it is written.
        case time(String)
    }
    package struct Entry: Sendable {
        package var key: String
        /// The key's position, if it is named first.
        package var place: SourcePlace
        package var value: TOMLValue
    }

    /// The greatest depth of nested tables and arrays. What is read is freed recursively, so there must be an end.
    package static let maximumDepth = 100
    /// The longest text that is read, in bytes.
    package static let maximumByteCount = 16 << 20

    package var content: Content
    /// The position of a table's name in its header.
    package var place: SourcePlace

    /// Reads a whole document of TOML 1.0 (toml.io/en/v1.0.0), which a byte order mark may precede.
    /// - Parameter bytes: UTF-8.
    package init(parsing bytes: [UInt8]) throws(TOMLError) {
        var parser = try TOMLParser(bytes)
        self = try parser.document()
    }

    /// The kind of value, for messages.
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
