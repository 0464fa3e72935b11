// SPDX-License-Identifier: Apache-2.0

/// The reason that a stream of bytes cannot be parsed, and where: offsets count bytes from the stream's first.
public enum StreamParserError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are no sound; `found` names what they look like.
    case notAudio(found: String, offset: Int)
    /// Sound of a kind that is not parsed; `detail` says which.
    case unsupported(detail: String, offset: Int)
    /// A header that contradicts itself; `detail` says how.
    case damaged(detail: String, offset: Int)
    /// This number of bytes from the offset on contains no packet.
    case noPackets(byteCount: Int, offset: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notAudio(let found, 0): "it contains \(found)"
        case .notAudio(let found, let offset): "\(found) at byte \(offset), not audio"
        case .unsupported(let detail, let offset): "\(detail) at byte \(offset) is not supported"
        case .damaged(let detail, let offset): "damaged at byte \(offset) (\(detail))"
        case .noPackets(let count, let offset):
            "\(count) bytes from byte \(offset) on have no sound that is known"
        }
    }
}
