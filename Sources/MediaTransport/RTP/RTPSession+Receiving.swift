// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension RTPSession {
    /// Receives a datagram from the peer, with any content, and returns its kind.
    ///
    /// The first valid packet sets the peer's source. If its sequence numbers start over, the first of two packets in a row is
    /// ignored as a jump and the second one starts the source again (RFC 3550 A.1). Another source replaces the peer's after 1.5
    /// s of silence.
    public mutating func receive(_ datagram: RawSpan, at: HostTime) -> Received {
        let received =
            RTCPCompound.isOne(datagram) ? receiveReport(datagram, at: at) : receiveMedia(datagram, at: at)
        if case .ignored = received { totals.packetsIgnored &+= 1 } else { lastHeard = at }
        return received
    }

    private mutating func receiveMedia(_ datagram: RawSpan, at: HostTime) -> Received {
        let packet: RTPPacket
        do throws(RTPError) {
            packet = try RTPPacket(parsing: datagram)
        } catch {
            return .ignored(.malformed(error))
        }
        if packet.payloadType == repair.repeated { return receiveAgain(packet, datagram) }
        guard accepts(packet.payloadType) else { return .ignored(.payloadType(packet.payloadType)) }
        if let peer, peer != packet.ssrc, packet.ssrc != ssrc, isSilent(at: at) { forgetPeer() }
        if let reason = refusal(of: packet.ssrc) { return .ignored(reason) }
        peer = packet.ssrc
        guard var state = source else { return start(packet, datagram, at: at) }

        var sequenceNumber: Int
        var isNewest = false
        switch state.sequence.update(packet.sequenceNumber) {
        case .next(let number):
            sequenceNumber = number
            isNewest = true
            state.losses.mark(number)
        case .late(let number):
            sequenceNumber = number
            state.losses.mark(number)
        case .restart:
            totals.add(state.sequence)
            totals.restarts &+= 1
            return start(packet, datagram, at: at)
        case .duplicate:
            source = state
            return .ignored(.duplicate)
        case .jump:
            source = state
            return .ignored(.sequenceJump)
        }
        let position = state.position &+ Int(Int32(bitPattern: packet.timestamp &- state.timestamp))
        if isNewest {
            state.timestamp = packet.timestamp
            state.position = position
        }
        // The jitter of RFC 3550 A.8, in floating point and from differences, so that nothing overflows.
        let drift =
            at.seconds(since: state.lastArrival) * clockRate - Double(position &- state.lastPosition)
        state.jitter += (abs(drift) - state.jitter) / 16
        state.lastArrival = at
        state.lastPosition = position
        source = state
        totals.bytesReceived &+= packet.payload.count
        return .media(
            ReceivedMedia(
                sequenceNumber: sequenceNumber, position: position, marker: packet.marker, payload: packet.payload,
                startsSource: false, isRedundant: isRedundant(packet.payloadType),
                payloadType: packet.payloadType, sendTime: sendTime(of: packet, datagram)))
    }

    private mutating func start(_ packet: RTPPacket, _ datagram: RawSpan, at: HostTime) -> Received {
        source = SourceState(
            sequence: SequenceTracker(first: packet.sequenceNumber), timestamp: packet.timestamp,
            losses: LossRecord(first: Int(packet.sequenceNumber)), lastArrival: at)
        totals.bytesReceived &+= packet.payload.count
        startReporting(at: at)
        return .media(
            ReceivedMedia(
                sequenceNumber: Int(packet.sequenceNumber), position: 0, marker: packet.marker,
                payload: packet.payload, startsSource: true, isRedundant: isRedundant(packet.payloadType),
                payloadType: packet.payloadType, sendTime: sendTime(of: packet, datagram)))
    }

    private func sendTime(of packet: RTPPacket, _ datagram: RawSpan) -> UInt32? {
        guard let sendTimeID else { return nil }
        return SendTimeExtension.read(id: sendTimeID, datagram, packet)
    }

    /// Returns true if nothing was received from the peer for 1.5 s: another source may be the peer's restarted program.
    private func isSilent(at: HostTime) -> Bool { lastHeard.map { at.seconds(since: $0) >= 1.5 } ?? true }

    /// Forgets the peer's source, so that another may follow (RFC 3550 §8.2); its counts stay.
    private mutating func forgetPeer() {
        if let source {
            totals.add(source.sequence)
            totals.restarts &+= 1
        }
        source = nil
        peer = nil
        lastReport = nil
        peerName.removeAll(keepingCapacity: true)
    }

    /// Returns the reason to ignore a packet of this source: it is the local one, or the peer is known to have another. Nil
    /// otherwise.
    func refusal(of other: UInt32) -> IgnoredReason? {
        if other == ssrc { return .ownSource }
        if let peer, peer != other { return .otherSource(other) }
        return nil
    }
}
