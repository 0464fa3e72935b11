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
    /// The connection was lost, or the event stream ended.
    case closed
    /// The peer proved a key that was not expected; the value is that key.
    case wrongKey(KeyFingerprint)
    /// The peer sent an invalid reply or an invalid event; the value is the fault.
    case invalidResponse(RoomError)
}
