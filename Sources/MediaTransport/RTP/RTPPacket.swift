// SPDX-License-Identifier: Apache-2.0

/// The header of an RTP packet and the range of its payload (RFC 3550 §5.1).
@frozen
public struct RTPPacket: Hashable, Sendable {
    /// The payload type, 0 to 127.
    public var payloadType: UInt8
    /// The marker bit. The payload format defines its meaning; in audio it marks the first packet after silence.
    public var marker: Bool
    /// The sequence number of the packet, modulo 2^16.
    public var sequenceNumber: UInt16
    /// The first sampling instant of the payload in clock-rate units, modulo 2^32.
    public var timestamp: UInt32
    /// The synchronisation source: the sender.
    public var ssrc: UInt32
    /// The range of the contributing sources in the datagram, four bytes each; may be empty.
    public private(set) var contributingSources: Range<Int>
    /// The range of the header extension's data in the datagram, without the four bytes of profile and length; nil if there is no
    /// extension.
    public private(set) var headerExtension: Range<Int>?
    /// The range of the payload in the datagram, without padding; may be empty.
    public private(set) var payload: Range<Int>

    /// The bytes of a header without contributing sources and extension, as ``writeHeader(into:)`` writes it.
    public static let headerSize = 12

    /// Creates a packet to send, without contributing sources, extension and padding.
    /// - Precondition: `payloadType` is at most 127, `payloadSize` not negative.
    public init(
        payloadType: UInt8, marker: Bool, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32, payloadSize: Int
    ) {
        precondition(payloadType < 128 && payloadSize >= 0)
        self.payloadType = payloadType
        self.marker = marker
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        contributingSources = Self.headerSize..<Self.headerSize
        headerExtension = nil
        payload = Self.headerSize..<Self.headerSize + payloadSize
    }

    /// Reads the header of a datagram. The ranges count from the datagram's first byte. Does not allocate.
    public init(parsing datagram: RawSpan) throws(RTPError) {
        guard datagram.byteCount >= Self.headerSize else { throw .tooShort(datagram.byteCount) }
        let flags = datagram.byte(0)
        guard flags >> 6 == 2 else { throw .wrongVersion(flags >> 6) }
        var start = Self.headerSize + 4 * Int(flags & 0x0F)
        guard start <= datagram.byteCount else { throw .headerOverrun }
        contributingSources = Self.headerSize..<start
        headerExtension = nil
        if flags & 0x10 != 0 {
            guard start + 4 <= datagram.byteCount else { throw .headerOverrun }
            let end = start + 4 + 4 * Int(datagram.bigEndian16(start + 2))
            guard end <= datagram.byteCount else { throw .headerOverrun }
            headerExtension = start + 4..<end
            start = end
        }
        var end = datagram.byteCount
        if flags & 0x20 != 0 {
            let padding = Int(datagram.byte(end - 1))
            guard padding > 0, padding <= end - start else { throw .badPadding }
            end -= padding
        }
        payload = start..<end
        marker = datagram.byte(1) & 0x80 != 0
        payloadType = datagram.byte(1) & 0x7F
        sequenceNumber = datagram.bigEndian16(2)
        timestamp = datagram.bigEndian32(4)
        ssrc = datagram.bigEndian32(8)
    }

    /// Writes the fixed header, ``headerSize`` bytes, to the beginning of `datagram`. Does not allocate.
    /// - Precondition: `datagram` has room for the header.
    public func writeHeader(into datagram: inout MutableRawSpan) {
        datagram.put(0x80 as UInt8, at: 0)
        datagram.put((marker ? 0x80 : 0) | (payloadType & 0x7F), at: 1)
        datagram.put(sequenceNumber, at: 2)
        datagram.put(timestamp, at: 4)
        datagram.put(ssrc, at: 8)
    }
}
