// SPDX-License-Identifier: Apache-2.0

/// The counts of a session from its start, over all restarts of the peer's source.
public struct RTPStatistics: Hashable, Sendable {
    /// The media packets sent.
    public var packetsSent = 0
    /// The payload bytes sent, without headers.
    public var bytesSent = 0
    /// The media packets received, without duplicates.
    public var packetsReceived = 0
    /// The payload bytes received, without headers and duplicates.
    public var bytesReceived = 0
    /// The media packets sent by the peer, as the sequence numbers show.
    public var packetsExpected = 0
    /// The expected packets minus the received ones by RFC 3550 A.3: duplicates and late packets count as received, so it may be
    /// negative. ``packetsMissing`` counts those that did not arrive.
    public var packetsLost = 0
    /// The duplicates of received packets.
    public var packetsDuplicate = 0
    /// The packets that arrived after a packet with a higher number.
    public var packetsReordered = 0
    /// The datagrams dropped, for any ``IgnoredReason``.
    public var packetsIgnored = 0
    /// The NACKs received, by which the peer requests lost packets.
    public var nacksReceived = 0
    /// The restarts of the peer's source.
    public var restarts = 0
    /// Interarrival jitter in seconds (RFC 3550 A.8).
    public var jitter = 0.0
    /// The seconds of a round trip without the peer's delay; nil until the peer has answered a local sender report.
    public var roundTrip: Double?
    /// The peer's last report on the packets that it receives; nil before the first.
    public var remote: RemoteReport?

    /// The expected packets that have not arrived.
    public var packetsMissing: Int { packetsLost &+ packetsDuplicate }

    /// Creates counts of zero.
    package init() {}
}

/// A peer's report on the packets that it receives.
public struct RemoteReport: Hashable, Sendable {
    /// The share of packets lost since the peer's previous report, 0 to 1.
    public var fractionLost: Double
    /// The packets lost since the start; may be negative, because received duplicates count against losses.
    public var cumulativeLost: Int
    /// The interarrival jitter in seconds.
    public var jitter: Double
}
