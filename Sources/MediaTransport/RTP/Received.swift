// SPDX-License-Identifier: Apache-2.0

/// The kind of a datagram passed to ``RTPSession/receive(_:at:)``.
public enum Received: Hashable, Sendable {
    /// A packet of audio.
    case media(ReceivedMedia)
    /// A retransmitted packet of audio, with its original number and position; it may have been received before.
    case repeated(ReceivedMedia)
    /// RTCP, which updated ``RTPSession/statistics``.
    case report
    /// RTCP with the peer's goodbye.
    case goodbye
    /// A datagram that was dropped for this reason, and counted in ``RTPStatistics/packetsIgnored``.
    case ignored(IgnoredReason)
}

/// A media packet, with its 16- and 32-bit counters unwrapped.
@frozen
public struct ReceivedMedia: Hashable, Sendable {
    /// The extended sequence number, from the source's first 16-bit number. A packet that the first one overtook has a lower
    /// number, which may be negative.
    public var sequenceNumber: Int
    /// The payload's first frame in clock-rate units from the source's first packet; negative if that packet overtook it.
    public var position: Int
    /// The marker bit.
    public var marker: Bool
    /// The range of the payload in the datagram.
    public var payload: Range<Int>
    /// True for the first packet of a source: the peer's first, or the first after it started over. Its numbers and positions are
    /// unrelated to earlier ones.
    public var startsSource: Bool
    /// True if the payload has redundant blocks, as a ``REDPayload``.
    package var isRedundant = false
    /// The payload type of the packet; 0 for a retransmission.
    package var payloadType: UInt8 = 0
    /// The packet's send time in microseconds of the peer's clock, modulo 2^32; nil for a packet without one.
    package var sendTime: UInt32?
}

/// The reason that a datagram was dropped.
public enum IgnoredReason: Hashable, Sendable {
    /// The datagram is not valid RTP or RTCP.
    case malformed(RTPError)
    /// The payload type was not negotiated.
    case payloadType(UInt8)
    /// The source is not the peer's.
    case otherSource(UInt32)
    /// The source is the local one: a loop, or both peers drew the same number (RFC 3550 §8.2).
    case ownSource
    /// The packet was received before.
    case duplicate
    /// The sequence number is far from the last one, or a retransmission has no usable number. If the next packet follows a far
    /// number, the source has started over.
    case sequenceJump
}
