// SPDX-License-Identifier: Apache-2.0

/// Iterates over the packets of an RTCP compound packet (RFC 3550 §6.1), after ``init(_:)`` has validated all of them (appendix
/// A.2).
struct RTCPCompound: ~Escapable {
    enum Kind {
        static let senderReport: UInt8 = 200
        static let receiverReport: UInt8 = 201
        static let sourceDescription: UInt8 = 202
        static let goodbye: UInt8 = 203
        static let application: UInt8 = 204
        static let transportFeedback: UInt8 = 205
        static let extendedReport: UInt8 = 207
    }

    /// Returns true if a packet is RTCP: its packet types 192 to 223 correspond to RTP's payload types 64 to 95 with the marker
    /// (RFC 5761 §4).
    static func isOne(_ packet: RawSpan) -> Bool {
        packet.byteCount >= 2 && (192...223).contains(packet.byte(1))
    }

    struct Packet {
        var kind: UInt8
        var count: Int
        var body: Range<Int>  // in the datagram, after the four bytes of the common header
    }

    struct ReportBlock: Equatable {
        static let size = 24
        var ssrc: UInt32
        var fractionLost: UInt8
        var cumulativeLost: Int  // 24 bits, signed
        var highestSequence: UInt32
        var jitter: UInt32
        var lastReport: UInt32
        var delay: UInt32  // since the arrival of `lastReport`, in 65536ths of a second

        init(_ bytes: RawSpan, at offset: Int) {
            ssrc = bytes.bigEndian32(offset)
            let loss = bytes.bigEndian32(offset + 4)
            fractionLost = UInt8(loss >> 24)
            cumulativeLost = Int(Int32(bitPattern: loss << 8) >> 8)
            highestSequence = bytes.bigEndian32(offset + 8)
            jitter = bytes.bigEndian32(offset + 12)
            lastReport = bytes.bigEndian32(offset + 16)
            delay = bytes.bigEndian32(offset + 20)
        }
    }

    private let bytes: RawSpan
    private var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) throws(RTPError) {
        self.bytes = bytes
        guard bytes.byteCount >= 8 else { throw .tooShort(bytes.byteCount) }
        guard bytes.byte(0) >> 6 == 2 else { throw .wrongVersion(bytes.byte(0) >> 6) }
        guard bytes.byte(0) & 0x20 == 0, (Kind.senderReport...Kind.receiverReport).contains(bytes.byte(1)) else {
            throw .noReportFirst
        }
        var packetStart = 0
        while packetStart < bytes.byteCount {
            guard bytes.byteCount - packetStart >= 4 else { throw .badReportLength }
            let flags = bytes.byte(packetStart)
            guard flags >> 6 == 2 else { throw .wrongVersion(flags >> 6) }
            let size = 4 + 4 * Int(bytes.bigEndian16(packetStart + 2))
            guard size <= bytes.byteCount - packetStart else { throw .badReportLength }
            var end = packetStart + size
            if flags & 0x20 != 0 {  // only the last packet may be padded
                let padding = Int(bytes.byte(end - 1))
                guard end == bytes.byteCount, padding > 0, padding % 4 == 0, padding <= size - 4 else {
                    throw .badPadding
                }
                end -= padding
            }
            let minimumBodySize =
                switch bytes.byte(packetStart + 1) {
                case Kind.senderReport: 24 + ReportBlock.size * Int(flags & 0x1F)
                case Kind.receiverReport: 4 + ReportBlock.size * Int(flags & 0x1F)
                case Kind.goodbye: 4 * Int(flags & 0x1F)
                case Kind.transportFeedback: 8
                case Kind.extendedReport: 4
                default: 0
                }
            guard minimumBodySize <= end - packetStart - 4 else { throw .badReportLength }
            packetStart += size
        }
    }

    @_lifetime(self: copy self)
    mutating func next() -> Packet? {
        guard offset < bytes.byteCount else { return nil }
        let flags = bytes.byte(offset)
        let size = 4 + 4 * Int(bytes.bigEndian16(offset + 2))
        let padding = flags & 0x20 != 0 ? Int(bytes.byte(offset + size - 1)) : 0
        let packet = Packet(
            kind: bytes.byte(offset + 1), count: Int(flags & 0x1F), body: offset + 4..<offset + size - padding)
        offset += size
        return packet
    }

    /// Returns the range of `ssrc`'s canonical name in a source description (§6.5); nil if there is none.
    static func canonicalName(of ssrc: UInt32, in bytes: RawSpan, _ packet: Packet) -> Range<Int>? {
        var position = packet.body.lowerBound
        let end = packet.body.upperBound
        for _ in 0..<packet.count {
            guard end - position >= 4 else { return nil }
            let chunkSource = bytes.bigEndian32(position)
            position += 4
            while position < end, bytes.byte(position) != 0 {
                guard end - position >= 2, end - position - 2 >= Int(bytes.byte(position + 1)) else { return nil }
                let itemType = bytes.byte(position)
                let text = position + 2..<position + 2 + Int(bytes.byte(position + 1))
                if itemType == 1, chunkSource == ssrc { return text }
                position = text.upperBound
            }
            // One to four zero bytes end a chunk, so that the next one begins at a multiple of four bytes in the body.
            position = packet.body.lowerBound + (position - packet.body.lowerBound + 4) / 4 * 4
        }
        return nil
    }
}
