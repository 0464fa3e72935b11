// SPDX-License-Identifier: Apache-2.0

/// The reason that a text is not a session description that Earshot understands.
public struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1; 0 if it is not one line's fault.
    public let line: Int
    /// The fault.
    public let reason: Reason

    /// A fault of a description.
    public enum Reason: Hashable, Sendable {
        /// More than ``SessionDescription/maximumSize`` bytes; the value is how many.
        case tooLarge(Int)
        /// Not UTF-8, or with zero bytes in it.
        case notText
        /// Not a letter, `=` and a value.
        case notALine
        /// The first line is not `v=0`.
        case wrongVersion
        /// No line of this type, or none before the media.
        case missing(String)
        /// A value that does not follow the grammar.
        case badValue(String)
        /// No audio among the media; the value is what the first of them is.
        case notAudio(String)
        /// A transport that is none of ``SessionDescription/Profile``.
        case unsupportedTransport(String)
        /// No payload type has an `a=rtpmap`.
        case noFormat
    }

    package init(_ reason: Reason, line: Int = 0) {
        self.reason = reason
        self.line = line
    }

    /// One sentence that says what happened.
    public var description: String {
        let what =
            switch reason {
            case .tooLarge(let size): "\(size) bytes exceed the limit of \(SessionDescription.maximumSize)"
            case .notText: "not UTF-8 text"
            case .notALine: "not of the form 'x=value'"
            case .wrongVersion: "does not begin with 'v=0'"
            case .missing(let line): "no '\(line)' line"
            case .badValue(let what): "cannot be read as \(what)"
            case .notAudio(let kind): "'\(kind)' and no audio; a call needs an 'm=audio' line"
            case .unsupportedTransport(let name):
                "transport '\(name)'; supported are "
                    + SessionDescription.Profile.allCases.map(\.rawValue).joined(separator: ", ")
            case .noFormat: "no payload type has an 'a=rtpmap' line"
            }
        return line > 0 ? "session description, line \(line): \(what)" : "session description: \(what)"
    }
}
