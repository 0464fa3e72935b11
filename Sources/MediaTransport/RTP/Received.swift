// SPDX-License-Identifier: Apache-2.0

/// The kind of a datagram given to ``RTPSession/receive(_:at:)``.
public enum Received: Hashable, Sendable {
    /// Audio.
    case media(ReceivedMedia)
    /// Audio that was sent before, once more: its numbers are those of the first time, and may have come already.
    case repeated(ReceivedMedia)
    /// RTCP, taken into ``RTPSession/statistics``.
    case report
    /// RTCP by which the peer says that it leaves.
    case goodbye
    /// Dropped, and counted in ``RTPStatistics/packetsIgnored``.
    case ignored(IgnoredReason)
}

/// A media packet, with its 16- and 32-bit counters unwrapped.
@frozen
public struct ReceivedMedia: Hashable, Sendable {
    /// The extended sequence number: grows by one a packet, and begins at the source's first 16-bit number. A packet
    /// that was overtaken by the very first has a lower one, which may be negative.
    public var sequenceNumber: Int
    /// The payload's first frame in clock-rate units, counted from the source's first packet; of a packet overtaken by
    /// that one it is negative.
    public var position: Int
    /// The marker bit.
    public var marker: Bool
    /// The range of the payload in the datagram.
    public var payload: Range<Int>
    /// True on the first packet of a source: the peer's first, or the first after it started over. Counters and
    /// positions of earlier packets do not compare with this one's.
    public var startsSource: Bool
    /// True if the payload carries earlier blocks too, a ``REDPayload``.
    package var isRedundant = false
    /// True if the payload is Opus, which stands in for the stream's own codec: of the type ``RTPRepair/reserve``.
    package var isFallbackCodec = false
}

/// The reason that a datagram was dropped.
public enum IgnoredReason: Hashable, Sendable {
    /// Not RTP or RTCP.
    case malformed(RTPError)
    /// A payload type that was not agreed.
    case payloadType(UInt8)
    /// A source other than the peer's.
    case otherSource(UInt32)
    /// Our own source number: a loop, or both peers drew the same number (RFC 3550 §8.2).
    case ownSource
    /// A packet that was received before.
    case duplicate
    /// A sequence number far from the last. When the next packet follows on it, the source has started over.
    case sequenceJump
}
