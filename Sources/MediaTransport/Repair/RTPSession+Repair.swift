// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Retransmissions (RFC 4588) and the requests for them (RFC 4585).
extension RTPSession {
    /// The maximum bytes of a datagram with a NACK.
    package static let maximumNACKSize = maximumReportSize + 12 + 4 * NACKMessage.maximumCount
    /// Returns the source of retransmissions: the stream's with its lowest bit inverted.
    static func repeatedSource(of ssrc: UInt32) -> UInt32 { ssrc ^ 1 }

    /// The maximum by which the number of a retransmission may exceed that of the newest packet: as many lost packets in a row
    /// may be repeated before the next packet arrives.
    package static let furthestAhead = 4

    /// Writes a sent packet again: from the source of retransmissions, with the original number before the payload (RFC 4588 §4).
    /// - Parameters:
    ///   - sequence: the packet's original sequence number.
    ///   - position: the packet's original first frame, in clock-rate units from the session's start.
    ///   - datagram: has room for ``RTPPacket/headerSize`` + 2 bytes more than the payload.
    /// - Returns: the datagram's size in bytes; 0 if retransmissions were not negotiated.
    package mutating func packetizeAgain(
        _ payload: RawSpan, sequence: UInt16, position: Int,
        into datagram: inout MutableRawSpan
    ) -> Int {
        guard let type = repair.repeated else { return 0 }
        RTPPacket(
            payloadType: type, marker: false, sequenceNumber: nextRepeatNumber,
            timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: position), ssrc: Self.repeatedSource(of: ssrc),
            payloadSize: payload.byteCount + 2
        ).writeHeader(into: &datagram)
        datagram.put(sequence, at: RTPPacket.headerSize)
        datagram.put(payload, at: RTPPacket.headerSize + 2)
        nextRepeatNumber &+= 1
        return RTPPacket.headerSize + 2 + payload.byteCount
    }

    /// Receives a retransmission, which is not counted in the stream's reports.
    func receiveAgain(_ packet: RTPPacket, _ datagram: RawSpan) -> Received {
        guard let peer, packet.ssrc == Self.repeatedSource(of: peer) else { return .ignored(.otherSource(packet.ssrc)) }
        guard let source, packet.payload.count >= 2 else { return .ignored(.sequenceJump) }
        let number = datagram.bigEndian16(packet.payload.lowerBound)
        let distance = Int(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: source.sequence.highest)))
        // A copy with a higher number than all packets repeats a lost packet, and came before the next one.
        guard (-LossRecord.capacity...Self.furthestAhead).contains(distance) else { return .ignored(.sequenceJump) }
        let position = source.position &+ Int(Int32(bitPattern: packet.timestamp &- source.timestamp))
        return .repeated(
            ReceivedMedia(
                sequenceNumber: source.sequence.highest &+ distance, position: position, marker: false,
                payload: packet.payload.lowerBound + 2..<packet.payload.upperBound, startsSource: false))
    }

    /// Writes a request to the peer for lost packets, in the smallest report that RTCP allows (RFC 4585 §3.1).
    /// - Parameters:
    ///   - missing: extended numbers, ascending; at most 64.
    ///   - datagram: has room for ``maximumNACKSize`` bytes.
    /// - Returns: the datagram's size in bytes; 0 if `missing` is empty, or the peer has sent no media or does not support NACKs.
    package func writeNACK(of missing: some Collection<Int>, into datagram: inout MutableRawSpan) -> Int {
        precondition(datagram.byteCount >= Self.maximumNACKSize && missing.count <= NACKMessage.maximumCount)
        guard let peer, source != nil, repair.takesNACK, !missing.isEmpty else { return 0 }
        datagram.putReportHeader(RTCPCompound.Kind.receiverReport, count: 0, size: 8, at: 0)
        datagram.put(ssrc, at: 4)
        let start = writeDescription(into: &datagram, at: 8)
        datagram.put(ssrc, at: start + 4)
        datagram.put(peer, at: start + 8)
        let end = NACKMessage.write(missing, into: &datagram, at: start + 12)
        datagram.putReportHeader(
            RTCPCompound.Kind.transportFeedback, count: NACKMessage.format, size: end - start, at: start)
        return end
    }

    /// Adds the numbers of a NACK to those that ``takeRequestedNumbers()`` has not returned yet, up to 64 in all.
    mutating func takeNACK(_ datagram: RawSpan, _ body: Range<Int>) {
        guard datagram.bigEndian32(body.lowerBound + 4) == ssrc else { return }
        totals.nacksReceived &+= 1
        var asked = requestedNumbers
        var last: UInt16?
        var bursts = 0
        NACKMessage.read(datagram, at: body.lowerBound + 8..<body.upperBound) { number in
            if last.map({ number != $0 &+ 1 }) ?? true { bursts += 1 }
            last = number
            if asked.count < NACKMessage.maximumCount { asked.append(number) }
        }
        requestedNumbers = asked
        counted?.bursts += bursts
    }

    /// Sets the pattern of losses from a report by a peer without extended reports: the losses since the previous report, in as
    /// many bursts as NACKs have revealed, or each as a burst of its own if no NACK came.
    mutating func takeCounts(_ block: RTCPCompound.ReportBlock) {
        if let counted {
            let expected = Int(Int32(bitPattern: block.highestSequence &- counted.highest))
            let lost = max(0, block.cumulativeLost &- counted.lost)
            if expected > 0, lost <= expected {
                lossPattern = LossPattern(
                    expected: expected, lost: lost, bursts: counted.bursts > 0 ? min(lost, counted.bursts) : lost)
            }
        }
        counted = (block.cumulativeLost, block.highestSequence, 0)
    }

    /// Returns the numbers that the peer requested since the last call, each as often as requested, at most 64.
    package mutating func takeRequestedNumbers() -> some Sequence<UInt16> {
        defer { requestedNumbers.count = 0 }
        return requestedNumbers
    }

    /// Returns the newest pattern of losses that the peer has reported since the last call; nil if there is none.
    package mutating func takeLossPattern() -> LossPattern? {
        defer { lossPattern = nil }
        return lossPattern
    }

    mutating func takeExtendedReport(_ datagram: RawSpan, _ body: Range<Int>) {
        ExtendedReport.forEachBlock(datagram, in: body.lowerBound + 4..<body.upperBound) { kind, block in
            switch kind {
            case ExtendedReport.Kind.lossRuns:
                if let losses = ExtendedReport.losses(of: ssrc, datagram, block) { lossPattern = losses }
            case ExtendedReport.Kind.buffer:
                if let hold = ExtendedReport.hold(of: ssrc, datagram, block) { remoteHold = hold }
            default: break
            }
        }
    }

    /// Appends an extended report if the peer supports such reports.
    /// - Returns: the offset of the report's end; `start` if there is none.
    mutating func writeExtendedReport(into datagram: inout MutableRawSpan, at start: Int) -> Int {
        guard repair.takesReports, let peer, source != nil else { return start }
        datagram.put(ssrc, at: start + 4)
        var end = start + 8
        if source?.losses.unreported.isEmpty == false {
            end = ExtendedReport.write(&source!.losses, of: peer, into: &datagram, at: end)
        }
        if let hold { end = ExtendedReport.write(hold, of: peer, into: &datagram, at: end) }
        guard end > start + 8 else { return start }
        datagram.putReportHeader(RTCPCompound.Kind.extendedReport, count: 0, size: end - start, at: start)
        return end
    }
}

/// The sequence numbers that the peer has requested, at most 64, without an allocation.
struct RequestedNumbers: Sequence, Sendable {
    private var numbers = InlineArray<64, UInt16>(repeating: 0)
    var count = 0

    mutating func append(_ number: UInt16) {
        numbers[count] = number
        count += 1
    }

    func makeIterator() -> Iterator { Iterator(all: self) }

    struct Iterator: IteratorProtocol {
        let all: RequestedNumbers
        var index = 0

        mutating func next() -> UInt16? {
            guard index < all.count else { return nil }
            defer { index += 1 }
            return all.numbers[index]
        }
    }
}
