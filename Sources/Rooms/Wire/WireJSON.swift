// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The JSON of the wire, limited in size before it is parsed, with readable errors.
enum WireJSON {
    /// The version of the signalling in this Earshot.
    static let version = 1
    /// The maximum bytes of a body.
    static let maximumBodySize = HTTPMessage.maximumBodySize
    /// The maximum bytes of a session description; less than those of a body, because JSON escapes line ends.
    static let maximumDescriptionSize = 32_768

    static func encoded(_ value: some Encodable, isPretty: Bool = false) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("JSON encoding failed: \(error)")
        }
    }

    static func decoded<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(RoomError) -> T {
        guard bytes.count <= maximumBodySize else { throw .tooLarge(limit: maximumBodySize) }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as RoomError {
            throw error
        } catch {
            throw .malformed(sentence(of: error))
        }
    }

    /// Decodes a body that states its version. Throws ``RoomError/version(_:)`` for another version, whatever else the body
    /// contains.
    static func decodedVersioned<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(RoomError) -> T {
        let theirs = try decoded(Version.self, from: bytes).version
        guard theirs == version else { throw .version(theirs) }
        return try decoded(type, from: bytes)
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// Returns a decoder's error in a few words, with the path of the invalid value.
    static func sentence(of error: any Error) -> String {
        switch error {
        case let error as TextError: return error.description
        case DecodingError.keyNotFound(let key, let context):
            return "\(place(context.codingPath))has no '\(printable(key.stringValue))'"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            return "\(place(context.codingPath))is of another type than it should be"
        case DecodingError.dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "it is not JSON"
                : "\(place(context.codingPath))has a value that cannot be: \(printable(context.debugDescription))"
        default: return "it cannot be read"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "it " : "'" + printable(path.map(\.stringValue).joined(separator: ".")) + "' "
    }

    private static func printable(_ text: String) -> String { BoundedText.printable(text, limit: 80) }
}

/// Bytes as base64, in JSON and in header fields.
struct Base64: Hashable, Sendable, Codable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init?(text: String) {
        guard let data = Data(base64Encoded: text) else { return nil }
        bytes = Array(data)
    }

    var text: String { Data(bytes).base64EncodedString() }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no base64")
        }
        self = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
