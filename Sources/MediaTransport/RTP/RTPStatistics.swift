// SPDX-License-Identifier: Apache-2.0

/// Counts of one session, from its start, over restarts of the peer's source.
public struct RTPStatistics: Hashable, Sendable {
    /// Media packets sent.
    public var packetsSent = 0
    /// Payload bytes sent, headers left out.
    public var bytesSent = 0
    /// Media packets received, duplicates left out.
    public var packetsReceived = 0
    /// Payload bytes received, headers and duplicates left out.
    public var bytesReceived = 0
    /// Media packets that the sequence numbers say were sent.
    public var packetsExpected = 0
    /// Expected less received as RFC 3550 A.3 counts: duplicates and late packets count as received, so this may be
    /// negative. What never came is ``packetsMissing``.
    public var packetsLost = 0
    /// Copies of packets that had been received.
    public var packetsDuplicate = 0
    /// Packets that came after a later one.
    public var packetsReordered = 0
    /// Datagrams dropped, for whatever ``IgnoredReason``.
    public var packetsIgnored = 0
    /// Reports of the peer's that asked for packets.
    public var nacksReceived = 0
    /// Restarts of the peer's source.
    public var restarts = 0
    /// Interarrival jitter in seconds (RFC 3550 A.8).
    public var jitter = 0.0
    /// Seconds to the peer and back, its own delay left out; nil until a report has told.
    public var roundTrip: Double?
    /// The peer's last report on the packets that it receives from us; nil before.
    public var remote: RemoteReport?

    /// Packets that never came, or not yet.
    public var packetsMissing: Int { packetsLost &+ packetsDuplicate }

    /// Counts of zero.
    package init() {}
}

/// A peer's report on the packets that it receives from us.
public struct RemoteReport: Hashable, Sendable {
    /// The share of packets lost since its report before, 0 to 1.
    public var fractionLost: Double
    /// Packets lost since the start; negative when it got duplicates.
    public var cumulativeLost: Int
    /// Interarrival jitter in seconds.
    public var jitter: Double
}
