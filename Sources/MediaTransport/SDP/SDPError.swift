// SPDX-License-Identifier: Apache-2.0

/// The reason that a text is not a session description that Earshot understands.
public struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line number from 1; 0 if no single line is at fault.
    public let line: Int
    /// The fault in the description.
    public let reason: Reason

    /// A fault of a description.
    public enum Reason: Hashable, Sendable {
        /// The text has more than ``SessionDescription/maximumSize`` bytes; the value is their number.
        case tooLarge(Int)
        /// The text is not UTF-8, or contains zero bytes.
        case notText
        /// The line is not a letter, `=` and a value.
        case notALine
        /// The first line is not `v=0`, or there is a second `v=` line.
        case wrongVersion
        /// A required line is missing; the value is its beginning, such as `c=`.
        case missing(String)
        /// A value is invalid; the string describes a valid one.
        case badValue(String)
        /// No media is audio; the value is the kind of the first media, such as `video`.
        case notAudio(String)
        /// The transport of the audio, the value, is not a ``SessionDescription/Profile``.
        case unsupportedTransport(String)
        /// No payload type of the audio has a known format, by an `a=rtpmap` line or by RFC 3551.
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
