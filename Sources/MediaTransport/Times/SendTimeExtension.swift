// SPDX-License-Identifier: Apache-2.0

/// The RTP header extension with a packet's send time: the low 32 bits of the microseconds of the sender's clock, in the one-byte
/// form of RFC 8285 §4.2.
package enum SendTimeExtension {
    /// The name by which descriptions refer to the extension.
    package static let uri = "urn:x-earshot:rtp:send-time"
    /// The identifiers of the one-byte form.
    package static let identifiers: ClosedRange<UInt8> = 1...14
    /// The bytes that the extension adds to a packet: its header, the element and three bytes of padding.
    package static let size = 12
    /// The maximum payload of a packet with the extension, so that no link fragments the packet.
    package static let maximumPayloadSize = PCMPayload.maximumSize - size

    private static let profile: UInt16 = 0xBEDE
    private static let valueOffset = RTPPacket.headerSize + 5

    /// Writes the extension after the fixed header, which must be in `datagram` already.
    static func write(_ time: UInt32, id: UInt8, into datagram: inout MutableRawSpan) {
        datagram.put(0x90 as UInt8, at: 0)  // version 2, with an extension
        datagram.put(profile, at: RTPPacket.headerSize)
        datagram.put(UInt16(size / 4 - 1), at: RTPPacket.headerSize + 2)
        datagram.put(id << 4 | 3, at: RTPPacket.headerSize + 4)
        datagram.put(time, at: valueOffset)
        datagram.put(0 as UInt8, at: valueOffset + 4)
        datagram.put(0 as UInt16, at: valueOffset + 5)
    }

    /// Returns the send time in the extension of a packet; nil if there is none, or the extension is malformed.
    /// - Parameter id: the negotiated identifier.
    static func read(id: UInt8, _ datagram: RawSpan, _ packet: RTPPacket) -> UInt32? {
        guard let data = packet.headerExtension, datagram.bigEndian16(data.lowerBound - 4) == profile else {
            return nil
        }
        var offset = data.lowerBound
        while offset < data.upperBound {
            let element = datagram.byte(offset)
            offset += 1
            if element == 0 { continue }  // padding
            let size = Int(element & 0x0F) + 1
            // 15 is reserved, and 0 is padding only; both end the extension (§4.2).
            guard identifiers.contains(element >> 4), size <= data.upperBound - offset else { return nil }
            if element >> 4 == id { return size == 4 ? datagram.bigEndian32(offset) : nil }
            offset += size
        }
        return nil
    }

    /// Adds microseconds to the send time of a packet with ``write(_:id:into:)``'s extension. Leaves other packets unchanged.
    static func advance(_ packet: inout MutableRawSpan, by microseconds: UInt32) {
        guard let time = time(in: packet.bytes) else { return }
        packet.put(time &+ microseconds, at: valueOffset)
    }

    private static func time(in bytes: RawSpan) -> UInt32? {
        guard bytes.byteCount >= RTPPacket.headerSize + size, bytes.byte(0) == 0x90, !RTCPCompound.isOne(bytes),
            bytes.bigEndian16(RTPPacket.headerSize) == profile,
            bytes.bigEndian16(RTPPacket.headerSize + 2) == UInt16(size / 4 - 1),
            bytes.byte(valueOffset - 1) & 0x0F == 3
        else { return nil }
        return bytes.bigEndian32(valueOffset)
    }
}
