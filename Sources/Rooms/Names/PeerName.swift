// SPDX-License-Identifier: Apache-2.0

/// The name of a peer or a room: 1 to 63 bytes of UTF-8, trimmed, composed (NFC), safe to print on a terminal.
///
/// 63 bytes is the limit of an instance's name in DNS-SD (RFC 6763 §4.1.1).
public struct PeerName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a name in bytes of UTF-8.
    public static let maximumSize = 63

    /// The name.
    public let text: String

    /// Trims and checks a name.
    public init(_ text: String) throws(TextError) {
        self.text = try BoundedText.checked(text, .name, limit: Self.maximumSize)
    }

    private init(unchecked text: String) { self.text = text }

    /// The name.
    public var description: String { text }

    /// The name without letter case and invisible characters, to find names that look alike.
    var folded: String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }))
            .lowercased()
    }

    /// Returns this name if it is free, otherwise this name with the first free number, such as `Ann (2)`. A name is free if no
    /// name in `others` looks like it and `isTaken` returns false.
    func distinct(from others: some Sequence<PeerName>, orWhere isTaken: (PeerName) -> Bool = { _ in false })
        -> PeerName
    {
        let foldedOthers = Set(others.map(\.folded))
        var candidate = self
        var number = 2
        while foldedOthers.contains(candidate.folded) || isTaken(candidate) {
            let suffix = " (\(number))"
            var stem = text
            while stem.utf8.count + suffix.utf8.count > Self.maximumSize { stem.removeLast() }
            candidate = PeerName(unchecked: stem + suffix)
            number += 1
        }
        return candidate
    }
}

/// A guest's purpose, shown to the user who decides about the guest: at most 200 bytes of UTF-8, otherwise with the rules of
/// ``PeerName``.
public struct Purpose: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a purpose in bytes of UTF-8.
    public static let maximumSize = 200

    /// The text.
    public let text: String

    /// Trims and checks a text.
    public init(_ text: String) throws(TextError) {
        self.text = try BoundedText.checked(text, .purpose, limit: Self.maximumSize)
    }

    /// The text.
    public var description: String { text }
}

extension PeerName: Codable {
    /// Decodes and validates a string.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Purpose: Codable {
    /// Decodes and validates a string.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
