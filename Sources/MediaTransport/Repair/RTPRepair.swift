/// What was agreed on to make up for lost packets of a stream, both ways.
public struct RTPRepair: Hashable, Sendable {
    /// The payload type of packets that carry earlier blocks too (RED, RFC 2198); nil for none.
    public var redundant: UInt8?
    /// The payload type of packets that are sent once more (RFC 4588); nil for none. They are a source of their own, whose
    /// number differs from the stream's in the lowest bit.
    public var repeated: UInt8?
    /// Whether the far side takes NACKs.
    public var takesNACK = false
    /// Whether the far side takes extended reports of losses and of the buffer.
    public var takesReports = false

    /// Nothing was agreed on.
    public init() {}

    /// Whether there is anything.
    public var isNone: Bool { self == RTPRepair() }
}
