// SPDX-License-Identifier: Apache-2.0

/// The ID of a remote peer, chosen by the code that adds the peer.
public struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// The ID as a number.
    public let rawValue: Int

    /// Creates an ID.
    public init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The ID as text: `peer 3`.
    public var description: String { "peer \(rawValue)" }
}
