// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The rules of names, purposes and PINs.
enum BoundedText {
    /// Returns the text trimmed and composed (NFC).
    /// - Throws: ``TextError``.
    static func checked(_ text: String, _ subject: TextError.Subject, limit: Int) throws(TextError) -> String {
        // A very long text is refused before it is composed.
        guard text.utf8.count <= 16 * limit else {
            throw TextError(subject, .tooLong(size: text.utf8.count, limit: limit))
        }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        for (position, scalar) in trimmed.unicodeScalars.enumerated() where isForbidden(scalar) {
            throw TextError(subject, .forbidden(scalar, position: position + 1))
        }
        guard trimmed.unicodeScalars.contains(where: isVisible) else { throw TextError(subject, .empty) }
        guard trimmed.utf8.count <= limit else {
            throw TextError(subject, .tooLong(size: trimmed.utf8.count, limit: limit))
        }
        return trimmed
    }

    /// Returns another program's text, safe for a terminal: forbidden characters become blanks, and the text is cut after `limit`
    /// Unicode scalars.
    static func printable(_ text: String, limit: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit).map { isForbidden($0) ? " " : $0 }))
    }

    /// Returns true if a scalar controls a terminal, reverses text or ends a line, or is invisible and makes different names look
    /// alike.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: break
        }
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: return true  // embeddings, overrides, isolates
        case 0x200B, 0x2060...0x2064, 0xFEFF: return true
        default: return false
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return false }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: return false
        default: return true
        }
    }
}

/// The reason that a text is not a valid name, purpose or PIN.
public struct TextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of text.
    public enum Subject: String, Hashable, Sendable {
        /// The name of a peer or a room.
        case name
        /// A guest's purpose.
        case purpose
        /// The PIN of a room.
        case pin = "PIN"
    }

    /// The fault.
    public enum Reason: Hashable, Sendable {
        /// The text has no visible character.
        case empty
        /// The text is too long. The size and the limit are in bytes of UTF-8; only the limit of 32 for a PIN is in characters.
        case tooLong(size: Int, limit: Int)
        /// The text has fewer characters than a PIN needs.
        case tooShort(count: Int, least: Int)
        /// The text contains this forbidden character, such as a control or invisible one; the position counts Unicode scalars
        /// from 1.
        case forbidden(Unicode.Scalar, position: Int)
    }

    /// The kind of text.
    public let subject: Subject
    /// The fault of the text.
    public let reason: Reason

    init(_ subject: Subject, _ reason: Reason) {
        self.subject = subject
        self.reason = reason
    }

    /// One sentence that says what happened.
    public var description: String {
        let name = subject.rawValue
        switch reason {
        case .empty: return "the \(name) is empty"
        case .tooLong(let size, let limit):
            return "the \(name) has \(size) bytes of UTF-8, the limit is \(limit)"
        case .tooShort(let count, let least):
            return "the \(name) has \(count) characters; use at least \(least)"
        case .forbidden(let scalar, let position):
            let code = String(scalar.value, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: max(0, 4 - code.count)) + code
            return "character \(position) of the \(name), U+\(padded), is a control character"
        }
    }
}
