// SPDX-License-Identifier: Apache-2.0

/// The ID of a remote peer, chosen by its owner.
public struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// Creates an ID.
    public init(_ rawValue: Int) { self.rawValue = rawValue }

    /// `peer 3`.
    public var description: String { "peer \(rawValue)" }
}
