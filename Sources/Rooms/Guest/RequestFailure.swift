// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a request to another peer failed.
public enum RequestFailure: Hashable, Sendable {
    /// The machine answers, but no program listens on the port.
    case refused
    /// The network has no route to the peer.
    case unreachable
    /// The peer did not answer in time.
    case timedOut
    /// The connection was lost, or the stream ended.
    case closed
    /// The peer verified another key than the expected one.
    case wrongKey(KeyFingerprint)
    /// The peer sent neither a valid reply nor a valid event.
    case invalidResponse(RoomError)
}
