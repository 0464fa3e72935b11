// SPDX-License-Identifier: Apache-2.0

/// The reason that a stream cannot be parsed, with the offset in bytes from the stream's beginning.
public enum StreamParserError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not sound; `found` names what they seem to be.
    case notAudio(found: String, offset: Int)
    /// The sound has an unsupported format; `detail` names it.
    case unsupported(detail: String, offset: Int)
    /// A header is missing or contradicts itself; `detail` says how.
    case damaged(detail: String, offset: Int)
    /// From the offset on, this number of bytes contains no packet.
    case noPackets(byteCount: Int, offset: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notAudio(let found, 0): "it contains \(found)"
        case .notAudio(let found, let offset): "\(found) at byte \(offset), not audio"
        case .unsupported(let detail, let offset): "\(detail) at byte \(offset) is not supported"
        case .damaged(let detail, let offset): "damaged at byte \(offset) (\(detail))"
        case .noPackets(let count, let offset):
            "no known audio format in \(count) bytes from byte \(offset)"
        }
    }
}
