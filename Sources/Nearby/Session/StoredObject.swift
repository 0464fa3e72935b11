// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The fields of an object in a JSON file that this version of Earshot knows.
package protocol StoredFields: Codable, Hashable, Sendable {
    static var fieldNames: Set<String> { get }
}

/// An object in a JSON file, with the fields that a later version of Earshot added: they are kept when the file is written again.
package struct StoredObject<Fields: StoredFields>: Codable, Hashable, Sendable {
    package var fields: Fields
    /// The fields that this version does not know.
    package var otherFields: [String: JSONValue]

    package init(_ fields: Fields, otherFields: [String: JSONValue] = [:]) {
        self.fields = fields
        self.otherFields = otherFields
    }

    package init(from decoder: any Decoder) throws {
        fields = try Fields(from: decoder)
        otherFields = try [String: JSONValue](from: decoder).filter { !Fields.fieldNames.contains($0.key) }
    }

    package func encode(to encoder: any Encoder) throws {
        try otherFields.encode(to: encoder)
        try fields.encode(to: encoder)
    }
}

/// A value in a JSON file that this version of Earshot does not know.
package enum JSONValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .integer(let integer): try value.encode(integer)
        case .number(let number): try value.encode(number)
        case .string(let string): try value.encode(string)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        }
    }
}

/// The version of a JSON file.
package struct StoredVersion: Decodable {
    private let version: Int

    /// Returns true if a later version of Earshot wrote the file in a format that this version must not replace.
    package static func isLater(_ file: [UInt8], than version: Int) -> Bool {
        guard let stored = try? JSONDecoder().decode(StoredVersion.self, from: Data(file)) else { return false }
        return stored.version > version
    }
}
