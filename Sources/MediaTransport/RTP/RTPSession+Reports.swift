// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension RTPSession {
    mutating func receiveReport(_ datagram: RawSpan, at: HostTime) -> Received {
        var packets: RTCPCompound
        do throws(RTPError) {
            packets = try RTCPCompound(datagram)
        } catch {
            return .ignored(.malformed(error))
        }
        let sender = datagram.bigEndian32(4)
        if let reason = refusal(of: sender) { return .ignored(reason) }
        peer = sender
        startReporting(at: at)
        var saidGoodbye = false
        while let packet = packets.next() {
            let body = packet.body.lowerBound
            switch packet.kind {
            case RTCPCompound.Kind.senderReport where datagram.bigEndian32(body) == sender:
                lastReport = (datagram.bigEndian32(body + 4) << 16 | datagram.bigEndian32(body + 8) >> 16, at)
                takeBlocks(datagram, at: body + 24, count: packet.count, time: at)
            case RTCPCompound.Kind.receiverReport where datagram.bigEndian32(body) == sender:
                takeBlocks(datagram, at: body + 4, count: packet.count, time: at)
            case RTCPCompound.Kind.sourceDescription:
                if let name = RTCPCompound.canonicalName(of: sender, in: datagram, packet) {
                    takeName(datagram.extracting(name))
                }
            case RTCPCompound.Kind.goodbye:
                for i in 0..<packet.count where datagram.bigEndian32(body + 4 * i) == sender { saidGoodbye = true }
            case RTCPCompound.Kind.transportFeedback where packet.count == NACKMessage.format:
                if datagram.bigEndian32(body) == sender { takeNACK(datagram, packet.body) }
            case RTCPCompound.Kind.transportFeedback where packet.count == RateRequest.format:
                if datagram.bigEndian32(body) == sender { takeRateRequest(datagram, packet.body) }
            case RTCPCompound.Kind.extendedReport:
                if datagram.bigEndian32(body) == sender { takeExtendedReport(datagram, packet.body) }
            case RTCPCompound.Kind.application: takeApplication(datagram, packet, from: sender)
            default: break  // unknown kinds are skipped (§6.1)
            }
        }
        return saidGoodbye ? .goodbye : .report
    }

    private mutating func takeName(_ name: RawSpan) {
        guard unsafe name.byteCount != peerName.count || !name.starts(with: peerName.span.bytes) else { return }
        peerName.removeAll(keepingCapacity: true)
        for i in 0..<name.byteCount { peerName.append(name.byte(i)) }
    }

    private mutating func takeBlocks(_ datagram: RawSpan, at start: Int, count: Int, time: HostTime) {
        for i in 0..<count {
            let block = RTCPCompound.ReportBlock(datagram, at: start + i * RTCPCompound.ReportBlock.size)
            guard block.ssrc == ssrc else { continue }
            totals.remote = RemoteReport(
                fractionLost: Double(block.fractionLost) / 256, cumulativeLost: block.cumulativeLost,
                jitter: Double(block.jitter) / clockRate)
            hasReport = true
            if !repair.takesReports { takeCounts(block) }
            guard block.lastReport != 0 else { continue }
            // The round trip is the time since the local report that the peer names, minus the time for which the peer held
            // that report, modulo 2^16 seconds (§6.4.1). The peer's rounding may make the result negative.
            let ticks = Int32(bitPattern: NTPTime(time).middle &- block.lastReport &- block.delay)
            totals.roundTrip = max(0, Double(ticks) / 65_536)
        }
    }

    /// Returns the newest report by the peer on the local stream since the last call; nil if none has arrived.
    package mutating func takeReport() -> RemoteReport? {
        defer { hasReport = false }
        return hasReport ? totals.remote : nil
    }

    /// Writes the compound report that is due at ``nextReportTime``: the counts of recent sending and of receiving, and the local
    /// canonical name.
    /// - Parameter datagram: has room for ``maximumReportSize`` bytes.
    /// - Returns: the datagram's size in bytes.
    public mutating func writeReport(at: HostTime, into datagram: inout MutableRawSpan) -> Int {
        let size = writeReports(at: at, into: &datagram)
        reported(at: at)
        return size
    }

    /// Writes a last report with a goodbye.
    /// - Parameter datagram: has room for ``maximumReportSize`` bytes.
    /// - Returns: the datagram's size in bytes.
    public mutating func writeBye(at: HostTime, into datagram: inout MutableRawSpan) -> Int {
        let size = writeReport(at: at, into: &datagram)
        datagram.putReportHeader(RTCPCompound.Kind.goodbye, count: 1, size: 8, at: size)
        datagram.put(ssrc, at: size + 4)
        return size + 8
    }

    private mutating func writeReports(at: HostTime, into datagram: inout MutableRawSpan) -> Int {
        precondition(datagram.byteCount >= Self.maximumReportSize)
        var end = 8
        let isSender = totals.packetsSent > sent.atReportBefore  // within the last two report intervals (§6.4)
        if isSender, let lastTime = sent.lastTime {
            let ntp = NTPTime(at)
            let elapsed = Int(at.seconds(since: lastTime) * clockRate, clampedTo: -4e9...4e9)
            let position = sent.lastPosition &+ elapsed
            datagram.put(ntp.seconds, at: 8)
            datagram.put(ntp.fraction, at: 12)
            datagram.put(firstTimestamp &+ UInt32(truncatingIfNeeded: position), at: 16)
            datagram.put(UInt32(truncatingIfNeeded: totals.packetsSent), at: 20)
            datagram.put(UInt32(truncatingIfNeeded: totals.bytesSent), at: 24)
            end = 28
        }
        let blockCount = writeBlock(at: at, into: &datagram, offset: &end)
        let kind = end > 8 && isSender ? RTCPCompound.Kind.senderReport : RTCPCompound.Kind.receiverReport
        datagram.putReportHeader(kind, count: blockCount, size: end, at: 0)
        datagram.put(ssrc, at: 4)

        return writeExtendedReport(into: &datagram, at: writeDescription(into: &datagram, at: end))
    }

    /// Writes a source description with the local canonical name, after other packets.
    /// - Returns: the offset of the description's end.
    func writeDescription(into datagram: inout MutableRawSpan, at start: Int) -> Int {
        datagram.put(ssrc, at: start + 4)
        datagram.put(1 as UInt8, at: start + 8)
        datagram.put(UInt8(cname.count), at: start + 9)
        unsafe datagram.put(cname.span.bytes, at: start + 10)
        var end = start + 10 + cname.count
        repeat {
            datagram.put(0 as UInt8, at: end)
            end += 1
        } while end % 4 != 0
        datagram.putReportHeader(RTCPCompound.Kind.sourceDescription, count: 1, size: end - start, at: start)
        return end
    }

    private mutating func writeBlock(at: HostTime, into datagram: inout MutableRawSpan, offset: inout Int)
        -> Int
    {
        guard let peer, source != nil else { return 0 }
        let fraction = source?.sequence.takeFractionLost() ?? 0
        let lost = max(-0x80_0000, min(0x7F_FFFF, source?.sequence.lost ?? 0))
        datagram.put(peer, at: offset)
        datagram.put(UInt32(fraction) << 24 | UInt32(truncatingIfNeeded: lost) & 0xFF_FFFF, at: offset + 4)
        datagram.put(UInt32(truncatingIfNeeded: source?.sequence.highest ?? 0), at: offset + 8)
        let jitter = Int(source?.jitter ?? 0, clampedTo: 0...4_294_967_295)
        datagram.put(UInt32(jitter), at: offset + 12)
        datagram.put(lastReport?.middle ?? 0, at: offset + 16)
        let delay = lastReport.map { at.seconds(since: $0.at) * 65_536 } ?? 0
        datagram.put(UInt32(Int(delay, clampedTo: 0...4_294_967_295)), at: offset + 20)
        offset += RTCPCompound.ReportBlock.size
        return 1
    }
}

/// A host time as RTCP's 64-bit fixed-point seconds (RFC 3550 §4), from the host clock's origin.
struct NTPTime {
    var seconds: UInt32
    var fraction: UInt32

    init(_ time: HostTime) {
        let nanoseconds = UInt64(max(0, time.nanoseconds))
        seconds = UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
        fraction = UInt32(truncatingIfNeeded: (nanoseconds % 1_000_000_000) << 32 / 1_000_000_000)
    }

    /// The middle 32 bits: seconds modulo 2^16, in 65536ths.
    var middle: UInt32 { seconds << 16 | fraction >> 16 }
}

extension MutableRawSpan {
    @_lifetime(self: copy self)
    mutating func putReportHeader(_ kind: UInt8, count: Int, size: Int, at offset: Int) {
        put(0x80 | UInt8(count), at: offset)
        put(kind, at: offset + 1)
        put(UInt16(size / 4 - 1), at: offset + 2)
    }
}
