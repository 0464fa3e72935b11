import EarshotMediaTransport

/// Why a request to another peer failed.
public enum RequestFailure: Hashable, Sendable {
    /// The machine is there, and nobody listens on the port.
    case refused
    /// No way leads there.
    case unreachable
    /// Nothing came in time.
    case timedOut
    /// The connection broke off, or a stream ended.
    case closed
    /// The peer has proved another key than it should.
    case wrongKey(KeyFingerprint)
    /// What came was no reply or no event.
    case nonsense(RoomError)
}
