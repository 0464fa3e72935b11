// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The RTP and RTCP with one peer: one source each way, both on one port (RFC 3550, RFC 5761).
///
/// A value without socket, thread or clock: datagrams and times are arguments, and sessions with the same seed behave alike. For
/// one thread, the media thread; once the peer's name is known, no call allocates but those about time reports.
///
/// RTCP's wall clock is `HostTime`: the NTP timestamps of reports are elapsed time on the machine's monotonic clock, as RFC 3550
/// §6.4.1 allows. They suit round trips and the mapping of media to that clock, not dates.
///
/// A report is sent every second instead of every five (§6.2), since the live line shows loss and round trip. With about 110
/// bytes including UDP and IP that is 0.9 kb/s, 1.4 % of the smallest call (64 kb/s); RTCP may use 5 %. With two members the
/// interval needs no randomization.
public struct RTPSession: Sendable {
    /// The seconds between reports.
    package static let reportInterval = 1.0
    /// The maximum bytes of a report or goodbye.
    public static let maximumReportSize = 336 + 8 + ExtendedReport.maximumSize

    let ssrc: UInt32
    /// The negotiated payload type, 0 to 127.
    public internal(set) var payloadType: UInt8
    var clockRate: Double
    let cname: [UInt8]

    /// The sequence number of the next media packet to send.
    package internal(set) var nextSequenceNumber: UInt16
    /// The sequence number of the next retransmission to send.
    var nextRepeatNumber: UInt16
    /// The timestamp of the sent frame at position 0.
    package internal(set) var firstTimestamp: UInt32
    /// The timestamp and the time of the last packet before ``renegotiate(payloadType:clockRate:)``; nil once the next packet was
    /// sent.
    private var resumed: (timestamp: UInt32, at: HostTime)?
    var sent = SendingState()

    var peer: UInt32?
    var source: SourceState?
    var lastReport: (middle: UInt32, at: HostTime)?  // from the peer's newest sender report
    var peerName: [UInt8] = []
    var totals = RTPStatistics()  // all counts but those in `source`

    /// The negotiated repair of lost packets.
    package var repair = RTPRepair()
    /// Further payload types that are received: those before ``change(payloadType:repair:shift:)``, and those of a pending offer.
    package var otherTypes = OtherPayloadTypes()
    /// The depth of the local jitter buffer, which the next report tells the peer; nil if there is no buffer.
    package var hold: PlayoutHold?
    /// The depth of the peer's jitter buffer by the peer's last report on it; nil before the first.
    package internal(set) var remoteHold: PlayoutHold?
    var lossPattern: LossPattern?
    var requestedNumbers = RequestedNumbers()
    var rateRequest: RateRequest?
    /// The negotiated identifier of ``SendTimeExtension``; nil if packets have no send times and no reports on them.
    package var sendTimeID: UInt8?
    var timeReport: TimeReport?
    /// True if the peer has reported on the local stream since the last ``takeReport()``.
    var hasReport = false
    /// The counts of the peer's last report, and the number of bursts that NACKs have revealed since; nil before the first.
    var counted: (lost: Int, highest: UInt32, bursts: Int)?

    /// The time of the next ``writeReport(at:into:)``; nil until a packet was sent or received.
    public private(set) var nextReportTime: HostTime?

    /// The time of the peer's last packet, media or report; nil before the first.
    package internal(set) var lastHeard: HostTime?

    struct SendingState: Sendable {
        var lastPosition = 0
        var lastTime: HostTime?
        var atLastReport = 0  // the packets sent until the last report
        var atReportBefore = 0  // the packets sent until the report before
    }

    struct SourceState: Sendable {
        var sequence: SequenceTracker
        var timestamp: UInt32  // the highest-numbered packet's, as is `position`
        var position = 0
        var losses: LossRecord
        var lastArrival: HostTime
        var lastPosition = 0  // of the packet that arrived last
        var jitter = 0.0  // in clock-rate units
    }

    /// Creates a session. The caller draws the random values (§5.1).
    /// - Parameters:
    ///   - ssrc: the local source; random.
    ///   - cname: the local canonical name, also random (RFC 7022); at most 255 bytes.
    ///   - payloadType: the negotiated type, for both ways; 0 to 127, except 64 to 95 (RFC 5761 §4).
    ///   - clockRate: the timestamp units a second.
    ///   - firstSequenceNumber: the sequence number of the first packet; random.
    ///   - firstTimestamp: the timestamp of position 0; random.
    public init(
        ssrc: UInt32, cname: String, payloadType: UInt8, clockRate: Int, firstSequenceNumber: UInt16,
        firstTimestamp: UInt32
    ) {
        precondition(cname.utf8.count <= 255 && payloadType < 128 && !(64...95).contains(payloadType) && clockRate > 0)
        self.ssrc = ssrc
        self.cname = Array(cname.utf8)
        self.payloadType = payloadType
        self.clockRate = Double(clockRate)
        self.firstTimestamp = firstTimestamp
        nextSequenceNumber = firstSequenceNumber
        nextRepeatNumber = firstSequenceNumber
        peerName.reserveCapacity(255)
    }

    /// The timestamp of the received frame at position 0; nil until a packet has arrived.
    package var receivedFirstTimestamp: UInt32? {
        source.map { $0.timestamp &- UInt32(truncatingIfNeeded: $0.position) }
    }

    /// The peer's canonical name; empty until a report has it.
    package var peerCanonicalName: String { String(decoding: peerName, as: UTF8.self) }

    /// Writes a media packet.
    /// - Parameters:
    ///   - position: the payload's first frame in clock-rate units from the session's start.
    ///   - marker: true if the packet is the first after silence.
    ///   - isRedundant: true if the payload is a ``REDPayload``; ignored without ``RTPRepair/redundant``.
    ///   - isFallbackCodec: true if the payload is Opus instead of the stream's codec; ignored without ``RTPRepair/reserve``.
    ///   - at: the current time.
    ///   - datagram: has room for ``RTPPacket/headerSize`` bytes more than the payload.
    /// - Returns: the datagram's size in bytes.
    public mutating func packetize(
        _ payload: RawSpan, position: Int, marker: Bool, isRedundant: Bool = false,
        isFallbackCodec: Bool = false, at: HostTime, into datagram: inout MutableRawSpan
    ) -> Int {
        packetize(
            payload, position: position, marker: marker, isRedundant: isRedundant, isFallbackCodec: isFallbackCodec,
            sendTime: nil, at: at, into: &datagram)
    }

    /// Writes a media packet with its send time, if that was negotiated and the payload has at most
    /// ``SendTimeExtension/maximumPayloadSize`` bytes.
    ///
    /// Retransmissions have no send time: they follow another packet at once and wait for it on a slow link, so none is the
    /// fastest of a window.
    /// - Parameters:
    ///   - sendTime: the low 32 bits of the local clock's microseconds; nil for a packet without a send time.
    ///   - datagram: has room for ``RTPPacket/headerSize`` and ``SendTimeExtension/size`` bytes more than the payload.
    /// - Returns: the datagram's size in bytes.
    package mutating func packetize(
        _ payload: RawSpan, position: Int, marker: Bool, isRedundant: Bool, isFallbackCodec: Bool, sendTime: UInt32?,
        at: HostTime, into datagram: inout MutableRawSpan
    ) -> Int {
        if let resumed {
            let elapsed = Int(at.seconds(since: resumed.at) * clockRate, clampedTo: 0...4e9)
            firstTimestamp = resumed.timestamp &+ UInt32(elapsed) &- UInt32(truncatingIfNeeded: position)
            self.resumed = nil
        }
        RTPPacket(
            payloadType: (isFallbackCodec ? repair.reserve : isRedundant ? repair.redundant : nil) ?? payloadType,
            marker: marker,
            sequenceNumber: nextSequenceNumber,
            timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: position), ssrc: ssrc,
            payloadSize: payload.byteCount
        ).writeHeader(into: &datagram)
        var start = RTPPacket.headerSize
        if let sendTime, let sendTimeID, payload.byteCount <= SendTimeExtension.maximumPayloadSize {
            SendTimeExtension.write(sendTime, id: sendTimeID, into: &datagram)
            start += SendTimeExtension.size
        }
        datagram.put(payload, at: start)
        nextSequenceNumber &+= 1
        totals.packetsSent &+= 1
        totals.bytesSent &+= payload.byteCount
        sent.lastPosition = position
        sent.lastTime = at
        startReporting(at: at)
        return start + payload.byteCount
    }

    /// Continues in another format, or after silence, as the same source: the remote peer sees numbers and times continue, while
    /// positions may begin anywhere. Forgets the remote peer's source; its counts stay.
    package mutating func renegotiate(payloadType: UInt8, clockRate: Int) {
        precondition(payloadType < 128 && !(64...95).contains(payloadType) && clockRate > 0)
        if let last = sent.lastTime {
            resumed = (firstTimestamp &+ UInt32(truncatingIfNeeded: sent.lastPosition), last)
        }
        // No sender report is written before the first packet of the new format.
        sent = SendingState(atLastReport: totals.packetsSent, atReportBefore: totals.packetsSent)
        if let source { totals.add(source.sequence) }
        source = nil
        peer = nil
        lastReport = nil
        repair = RTPRepair()
        otherTypes = OtherPayloadTypes()
        (hold, remoteHold, lossPattern, requestedNumbers) = (nil, nil, nil, RequestedNumbers())
        rateRequest = nil
        (sendTimeID, timeReport) = (nil, nil)
        counted = nil
        self.payloadType = payloadType
        self.clockRate = Double(clockRate)
    }

    /// The counts of the session so far.
    public var statistics: RTPStatistics {
        var all = totals
        guard let source else { return all }
        all.add(source.sequence)
        all.jitter = source.jitter / clockRate
        return all
    }

    mutating func startReporting(at: HostTime) {
        if nextReportTime == nil { nextReportTime = at.advanced(bySeconds: Self.reportInterval / 2) }
    }

    mutating func reported(at: HostTime) {
        nextReportTime = at.advanced(bySeconds: Self.reportInterval)
        sent.atReportBefore = sent.atLastReport
        sent.atLastReport = totals.packetsSent
    }
}

extension RTPStatistics {
    mutating func add(_ sequence: SequenceTracker) {
        packetsReceived &+= sequence.received
        packetsExpected &+= sequence.expected
        packetsLost &+= sequence.lost
        packetsDuplicate &+= sequence.duplicates
        packetsReordered &+= sequence.reordered
    }
}
