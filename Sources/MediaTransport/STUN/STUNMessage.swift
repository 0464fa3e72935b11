// SPDX-License-Identifier: Apache-2.0

/// A STUN message in its datagram (RFC 8489 §5).
///
/// Reading allocates only the texts and lists that it returns. libcrypto allocates and frees while it verifies a code.
package struct STUNMessage: ~Escapable {
    /// The role of a message in a transaction.
    package enum Class: UInt16, Hashable, Sendable, CaseIterable {
        /// A request, which expects an answer.
        case request = 0
        /// A message that expects no answer.
        case indication = 1
        /// The answer to a successful request.
        case success = 2
        /// The answer to a failed request.
        case error = 3
    }

    /// The only method that ICE uses.
    package static let binding: UInt16 = 0x001
    /// The bytes of a header.
    package static let headerSize = 20
    /// The maximum bytes of a message: an unfragmented packet on Ethernet, and twice the largest message of agents. It limits the
    /// cost of hostile messages.
    package static let maximumSize = 1_500

    static let magicCookie: UInt32 = 0x2112_A442
    static let fingerprintMask: UInt32 = 0x5354_554E

    package let messageClass: Class
    /// The method of the message, 0 to 0xFFF; see ``binding``.
    package let method: UInt16
    /// The transaction id, the same in a request and its answer.
    package let transactionID: STUNTransactionID
    /// True if the message ends in a FINGERPRINT, which was verified.
    package let hasFingerprint: Bool

    let bytes: RawSpan
    /// The offset of MESSAGE-INTEGRITY; nil if there is none.
    let integrity: Int?
    /// The offset after the readable attributes: that of MESSAGE-INTEGRITY, else of FINGERPRINT, else of the message's end.
    /// Attributes after MESSAGE-INTEGRITY are not authenticated (§14.5).
    let attributesEnd: Int

    /// Returns true if a datagram may be STUN, as opposed to DTLS and RTP on the same port (RFC 7983 §7).
    package static func isPlausible(_ datagram: RawSpan) -> Bool {
        datagram.byteCount >= headerSize && datagram.byte(0) < 4 && datagram.bigEndian32(4) == magicCookie
    }

    /// Reads a datagram: its header, the bounds of its attributes, and the FINGERPRINT if there is one.
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
        while offset < datagram.byteCount {  // `offset` and the size are multiples of four: a header fits
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

    /// Returns true if the message has a MESSAGE-INTEGRITY with this key, in ICE the password's bytes (RFC 8489 §9.1.1).
    package func isAuthentic(key: RawSpan) -> Bool {
        guard let integrity else { return false }
        let end = integrity + STUNAttribute.messageIntegritySize
        var memory = InlineArray<1_500, UInt8>(repeating: 0)  // `maximumSize`
        var span = memory.mutableSpan
        var covered = unsafe span.mutableBytes
        covered.put(bytes.extracting(..<integrity), at: 0)
        // The sender made the code with a header length that ends with MESSAGE-INTEGRITY (§14.5).
        covered.put(UInt16(end - Self.headerSize), at: 2)
        let code = HMACSHA1.code(of: covered.bytes.extracting(..<integrity), key: key)
        return HMACSHA1.isEqual(code, bytes.extracting(end - HMACSHA1.size..<end))
    }

    /// Returns the size in bytes of a value with its padding, a multiple of four.
    static func padded(_ size: Int) -> Int { (size + 3) & ~3 }
}
