// SPDX-License-Identifier: Apache-2.0

/// One remote peer, by a number that its owner chose.
public struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// A remote peer of this number.
    public init(_ rawValue: Int) { self.rawValue = rawValue }

    /// `peer 3`.
    public var description: String { "peer \(rawValue)" }
}
