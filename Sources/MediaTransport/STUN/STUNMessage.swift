// SPDX-License-Identifier: Apache-2.0

/// A STUN message as it lies in its datagram (RFC 8489 §5).
///
/// Reading allocates only the texts and lists that it returns. libcrypto allocates and frees while it checks a code.
package struct STUNMessage: ~Escapable {
    /// The role of a message in a transaction.
    package enum Class: UInt16, Hashable, Sendable, CaseIterable {
        /// Wants an answer.
        case request = 0
        /// Wants none.
        case indication = 1
        /// Answers a request that was granted.
        case success = 2
        /// Answers one that was not.
        case error = 3
    }

    /// The only method that ICE uses.
    package static let binding: UInt16 = 0x001
    /// Bytes of a header.
    package static let headerSize = 20
    /// Bytes of a message at most: what a path of Ethernet's size carries whole, and twice what any agent sends. It
    /// bounds what a hostile one costs to read.
    package static let maximumSize = 1_500

    static let magicCookie: UInt32 = 0x2112_A442
    static let fingerprintMask: UInt32 = 0x5354_554E

    /// Request, answer, or neither.
    package let messageClass: Class
    /// 0 to 0xFFF; see ``binding``.
    package let method: UInt16
    /// The request's, in the request and its answer.
    package let transactionID: STUNTransactionID
    /// True if the message ends in a FINGERPRINT. It is then the right one, else the message would not have been read.
    package let hasFingerprint: Bool

    let bytes: RawSpan
    /// The offset of MESSAGE-INTEGRITY; nil if there is none.
    let integrity: Int?
    /// Attributes after this position are ignored: those after MESSAGE-INTEGRITY (§14.5) are not authenticated.
    let attributesEnd: Int

    /// Returns true if a datagram may be STUN, for telling it from DTLS and RTP on the same port (RFC 7983 §7).
    package static func mayBe(_ datagram: RawSpan) -> Bool {
        datagram.byteCount >= headerSize && datagram.byte(0) < 4 && datagram.bigEndian32(4) == magicCookie
    }

    /// Reads a whole datagram: its header, the bounds of its attributes, and the FINGERPRINT if there is one.
    @_lifetime(copy datagram)
    package init(parsing datagram: RawSpan) throws(STUNError) {
        guard datagram.byteCount >= Self.headerSize else { throw .tooShort(datagram.byteCount) }
        guard datagram.byteCount <= Self.maximumSize else { throw .tooLarge(datagram.byteCount) }
        let type = datagram.bigEndian16(0)
        guard type >> 14 == 0, datagram.bigEndian32(4) == Self.magicCookie,
            let messageClass = Class(rawValue: type >> 4 & 1 | type >> 7 & 2)
        else {
            throw .notSTUN
        }
        let length = Int(datagram.bigEndian16(2))
        guard length == datagram.byteCount - Self.headerSize, length % 4 == 0 else {
            throw .wrongLength(announced: length, present: datagram.byteCount - Self.headerSize)
        }
        self.messageClass = messageClass
        method = type & 0x000F | type >> 1 & 0x0070 | type >> 2 & 0x0F80
        transactionID = STUNTransactionID(
            high: datagram.bigEndian32(8),
            low: UInt64(datagram.bigEndian32(12)) << 32 | UInt64(datagram.bigEndian32(16)))
        bytes = datagram

        var integrity: Int?
        var end = datagram.byteCount
        var hasFingerprint = false
        var offset = Self.headerSize
        while offset < datagram.byteCount {  // both are multiples of four, so type and length are there
            let type = datagram.bigEndian16(offset)
            let size = Int(datagram.bigEndian16(offset + 2))
            let next = offset + STUNAttribute.headerSize + Self.padded(size)
            guard next <= datagram.byteCount else { throw .attributeOverrun(type) }
            switch type {
            case STUNAttribute.messageIntegrity where integrity == nil:
                guard size == HMACSHA1.size else { throw .badAttribute(type) }
                integrity = offset
                end = offset
            case STUNAttribute.fingerprint:
                guard size == 4 else { throw .badAttribute(type) }
                guard next == datagram.byteCount else { throw .misplacedFingerprint }
                let sum = CRC32.of(datagram.extracting(..<offset)) ^ Self.fingerprintMask
                guard sum == datagram.bigEndian32(offset + 4) else { throw .wrongFingerprint }
                hasFingerprint = true
                if integrity == nil { end = offset }
            default: break
            }
            offset = next
        }
        self.integrity = integrity
        self.hasFingerprint = hasFingerprint
        attributesEnd = end
    }

    /// Returns true if the message has a MESSAGE-INTEGRITY made with this key: for ICE the password's bytes (RFC 8489 §9.1.1).
    package func isAuthentic(key: RawSpan) -> Bool {
        guard let integrity else { return false }
        let end = integrity + STUNAttribute.messageIntegritySize
        var memory = InlineArray<1_500, UInt8>(repeating: 0)  // `maximumSize`
        var span = memory.mutableSpan
        var covered = unsafe span.mutableBytes
        covered.put(bytes.extracting(..<integrity), at: 0)
        // The length is what it was when the code was made (§14.5): up to and with MESSAGE-INTEGRITY.
        covered.put(UInt16(end - Self.headerSize), at: 2)
        let code = HMACSHA1.code(of: covered.bytes.extracting(..<integrity), key: key)
        return HMACSHA1.isEqual(code, bytes.extracting(end - HMACSHA1.size..<end))
    }

    /// Bytes that a value takes with its padding.
    static func padded(_ size: Int) -> Int { (size + 3) & ~3 }
}
