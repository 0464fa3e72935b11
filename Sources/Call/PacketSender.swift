import AudioBase
import MediaTransport

/// Puts payloads into RTP packets and hands them on, all in one buffer of its own.
struct PacketSender: ~Copyable {
    var session: RTPSession
    private var hasSent = false
    private let isAAC: Bool
    private let datagram: UnsafeMutableRawBufferPointer
    private let unit: UnsafeMutableRawBufferPointer  // an AAC access unit behind its header

    init(session: RTPSession, isAAC: Bool) {
        self.session = session
        self.isAAC = isAAC
        datagram = .allocate(byteCount: 8448, alignment: 16)
        unit = .allocate(byteCount: 8320, alignment: 16)
    }

    deinit {
        datagram.deallocate()
        unit.deallocate()
    }

    mutating func send(
        _ payload: UnsafeRawBufferPointer, position: Int, afterGap: Bool, at now: HostTime,
        _ transmit: (UnsafeRawBufferPointer) -> Void
    ) {
        var body = payload
        if isAAC {
            // A unit too long for the format (8,191 bytes) is none that AAC-LC makes.
            guard let count = try? AACPayload.write(payload, into: unit) else { return }
            body = UnsafeRawBufferPointer(rebasing: unit[..<count])
        }
        // With AAC the marker says that a unit ends here, as each does (RFC 3640 §3.1): GStreamer waits for it.
        let marker = isAAC || afterGap || !hasSent
        let count = session.packetize(body, position: position, marker: marker, at: now, into: datagram)
        hasSent = true
        transmit(UnsafeRawBufferPointer(rebasing: datagram[..<count]))
    }

    /// The next packet comes after a gap.
    mutating func interrupt() { hasSent = false }

    mutating func report(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        let count = session.writeReport(at: now, into: datagram)
        transmit(UnsafeRawBufferPointer(rebasing: datagram[..<count]))
    }

    mutating func bye(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        let count = session.writeBye(at: now, into: datagram)
        transmit(UnsafeRawBufferPointer(rebasing: datagram[..<count]))
    }
}
