// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync
import EarshotMediaTransport

/// Builds RTP packets in one buffer and passes them to the transport. If negotiated, the sender repeats payloads: in later
/// packets (RED), as separate packets if RED has no space, and on request.
struct PacketSender: ~Copyable {
    var session: RTPSession
    /// The redundancy of each packet.
    var plan = RedundancyPlan.none
    /// The payloads that were repeated, within a later packet or alone.
    private(set) var repeatedPayloads = 0
    /// The payloads that were repeated because the remote peer requested them.
    private(set) var answeredPackets = 0
    /// True to write send times, if they were negotiated.
    var writesSendTimes = false
    private var hasSentSinceGap = false
    private let isAAC: Bool
    private var history: PayloadHistory?
    private var redundantBlocks: [REDPayload.RedundantBlock] = []
    private let datagram: UnsafeMutableRawBufferPointer
    private let body: UnsafeMutableRawBufferPointer  // a payload in the format of AAC or RED

    /// The maximum bytes of a payload with redundant blocks, so that no link fragments the packet.
    static let maximumRedundantSize = PCMPayload.maximumSize

    init(session: RTPSession, isAAC: Bool) {
        self.session = session
        self.isAAC = isAAC
        datagram = .allocate(byteCount: 8448, alignment: 16)
        body = .allocate(byteCount: 8320, alignment: 16)
        history = session.repair.redundant != nil || session.repair.repeated != nil ? PayloadHistory() : nil
        redundantBlocks.reserveCapacity(2)
    }

    deinit {
        datagram.deallocate()
        body.deallocate()
    }

    mutating func send(
        _ payload: UnsafeRawBufferPointer, position: Int, afterGap: Bool, isFallbackCodec: Bool = false,
        at now: HostTime,
        _ transmit: (UnsafeRawBufferPointer) -> Void
    ) {
        let number = session.nextSequenceNumber
        // The fallback codec has no negotiated redundancy.
        let plan = isFallbackCodec ? .none : plan
        let near = plan.near > 0 ? gather(number &- UInt16(plan.near), position, payload) : nil
        var far: UInt16?
        if plan.far > plan.near {
            far = gather(number &- UInt16(plan.far), position, payload)
        } else if plan.far > 0 {
            far = number &- UInt16(plan.far)  // repeated a second time, in case the new packet is lost
        }
        var content = payload
        var bytes = body.mutableBytes
        var isRedundant = false
        if isAAC {
            // AAC-LC makes no unit that is too long for the format (8,191 bytes).
            guard let count = try? AACPayload.write(payload.bytes, into: &bytes) else { return }
            content = UnsafeRawBufferPointer(rebasing: body[..<count])
        } else if !redundantBlocks.isEmpty {
            let count = try? REDPayload.write(
                redundantBlocks, own: payload.bytes, payloadType: session.payloadType, into: &bytes)
            if let count {
                content = UnsafeRawBufferPointer(rebasing: body[..<count])
                isRedundant = true
                repeatedPayloads += redundantBlocks.count
            }
            redundantBlocks.removeAll(keepingCapacity: true)
        }
        // In AAC the marker means that an access unit ends in the packet (RFC 3640 §3.1), as one always does; GStreamer
        // requires it.
        let marker = isAAC || afterGap || !hasSentSinceGap
        let sendTime = writesSendTimes ? now.wireMicroseconds : nil
        write(transmit) { session, datagram in
            session.packetize(
                content.bytes, position: position, marker: marker, isRedundant: isRedundant,
                isFallbackCodec: isFallbackCodec, sendTime: sendTime, at: now, into: &datagram)
        }
        hasSentSinceGap = true
        if let near { sendAgain(near, transmit) }
        if let far { sendAgain(far, transmit) }
        let kept = isFallbackCodec ? UnsafeRawBufferPointer(start: nil, count: 0) : payload
        history?.store(kept, number: number, position: position)
    }

    /// Adds an earlier payload to the redundant blocks of the next packet, if there is space.
    /// - Returns: the earlier payload's number if it must be sent alone; otherwise nil.
    private mutating func gather(
        _ number: UInt16, _ position: Int, _ payload: UnsafeRawBufferPointer
    ) -> UInt16? {
        guard let (bytes, place) = history?.payload(number) else { return nil }
        let block = REDPayload.RedundantBlock(age: position - place, bytes: bytes)
        guard (1...REDPayload.maximumAge).contains(block.age) else { return nil }
        let byteCount = redundantBlocks.reduce(payload.count + REDPayload.ownHeaderSize) {
            $0 + $1.bytes.count + REDPayload.headerSize
        }
        guard session.repair.redundant != nil, block.fits,
            byteCount + bytes.count + REDPayload.headerSize <= Self.maximumRedundantSize
        else { return number }
        redundantBlocks.insert(block, at: 0)  // older blocks come first, and are gathered later
        return nil
    }

    @discardableResult
    private mutating func sendAgain(_ number: UInt16, _ transmit: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard let (bytes, place) = history?.payload(number) else { return false }
        let isSent = write(transmit) { session, datagram in
            session.packetizeAgain(bytes.bytes, sequence: number, position: place, into: &datagram)
        }
        if isSent { repeatedPayloads += 1 }
        return isSent
    }

    /// Retransmits the packets that the remote peer requested, unless they are unknown, or were retransmitted just
    /// now or twice.
    mutating func answer(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        guard history != nil, session.repair.repeated != nil else { return }
        let pause = session.statistics.roundTrip ?? 0
        for number in session.takeRequestedNumbers() where history?.answer(number, at: now, pause: pause) == true {
            if sendAgain(number, transmit) { answeredPackets += 1 }
        }
    }

    /// Marks the next packet as following a gap, and forgets the payloads sent before.
    mutating func interrupt() {
        hasSentSinceGap = false
        history?.removeAll()
    }

    mutating func report(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        write(transmit) { $0.writeReport(at: now, into: &$1) }
    }

    /// Requests the retransmission of missing packets.
    /// - Returns: true if the remote peer supports that.
    mutating func ask(for missing: [Int], _ transmit: (UnsafeRawBufferPointer) -> Void) -> Bool {
        write(transmit) { $0.writeNACK(of: missing, into: &$1) }
    }

    /// Requests a lower bit rate.
    /// - Returns: true if the remote peer supports that.
    mutating func ask(for request: RateRequest, _ transmit: (UnsafeRawBufferPointer) -> Void) -> Bool {
        write(transmit) { $0.writeRateRequest(request, into: &$1) }
    }

    /// Reports the remote peer's send times with their arrival times.
    mutating func report(_ times: TimeReport, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        write(transmit) { $0.writeTimeReport(times, into: &$1) }
    }

    mutating func bye(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        write(transmit) { $0.writeBye(at: now, into: &$1) }
    }

    /// Sends the datagram that `body` writes.
    /// - Parameter body: returns the datagram's size in bytes; 0 for none.
    /// - Returns: true if a datagram was written.
    @discardableResult
    private mutating func write(
        _ transmit: (UnsafeRawBufferPointer) -> Void, _ body: (inout RTPSession, inout MutableRawSpan) -> Int
    ) -> Bool {
        var bytes = datagram.mutableBytes
        let count = body(&session, &bytes)
        if count > 0 { transmit(UnsafeRawBufferPointer(rebasing: datagram[..<count])) }
        return count > 0
    }
}
