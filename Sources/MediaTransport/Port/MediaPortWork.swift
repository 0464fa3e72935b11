import AudioBase

/// How often a ``MediaPort``'s thread has woken and called the system since it was started. `scripts/counts` compares it, for a
/// block of sound, with what was recorded.
public struct MediaPortWork: Hashable, Sendable {
    /// When it was counted.
    public var time = HostTime(nanoseconds: 0)
    /// Calls of `poll`: each is a wake-up.
    public var waits = 0
    /// Wake-ups by the client or by another thread; each is followed by a call of `read`.
    public var signals = 0
    /// Calls of `sendmsg`.
    public var sends = 0
    /// Calls of `recvmsg`, those that found nothing included.
    public var receives = 0

    /// All calls of the system: `poll`, `read`, `sendmsg` and `recvmsg`.
    public var systemCalls: Int { waits + signals + sends + receives }
}
