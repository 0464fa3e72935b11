// SPDX-License-Identifier: Apache-2.0

/// A DTLS record in a datagram, which may have several (RFC 6347 §4.1, §4.3.1).
struct DTLSRecord: Hashable {
    enum Content: UInt8 {
        case changeCipherSpec = 20
        case alert, handshake, applicationData
    }

    static let headerSize = 13
    /// Bytes of AES-GCM's nonce and tag (RFC 5288 §3).
    private static let leastEncrypted = 8 + 16

    var content: Content
    /// The epoch; 0 is unencrypted.
    var epoch: UInt16
    /// The record's bytes with its header.
    var bytes: Range<Int>

    var body: Range<Int> { bytes.lowerBound + Self.headerSize..<bytes.upperBound }

    /// Reads the record at `start`; nil if there is none or it is invalid: the rest of the datagram is then unusable.
    init?(_ datagram: RawSpan, at start: Int) {
        guard datagram.byteCount - start >= Self.headerSize, let content = Content(rawValue: datagram.byte(start)),
            datagram.byte(start + 1) == 0xFE  // DTLS 1.0 in a first message, 1.2 afterwards
        else { return nil }
        let size = Int(datagram.bigEndian16(start + 11))
        guard size <= datagram.byteCount - start - Self.headerSize else { return nil }
        self.content = content
        epoch = datagram.bigEndian16(start + 3)
        bytes = start..<start + Self.headerSize + size
    }

    /// Returns true if it may be encrypted with the session's keys. OpenSSL 3.0 ends the session at a shorter record, which
    /// anyone could send.
    var mayBeEncrypted: Bool { epoch == 1 && content != .changeCipherSpec && body.count >= Self.leastEncrypted }

    /// Returns the alert of an unencrypted record; nil for any other record.
    func alertInClear(_ datagram: RawSpan) -> (isFatal: Bool, alert: DTLSAlert)? {
        guard content == .alert, epoch == 0, body.count == 2 else { return nil }
        return (datagram.byte(body.lowerBound) == 2, DTLSAlert(rawValue: datagram.byte(body.lowerBound + 1)))
    }

    /// Returns true if this is a plausible unencrypted handshake record for this role. Anyone can forge one, and a datagram that
    /// OpenSSL cannot read ends the handshake.
    func isPlausibleHandshake(_ datagram: RawSpan, to role: DTLSRole) -> Bool {
        guard content == .handshake, epoch == 0, body.count >= 12 else { return false }
        let start = body.lowerBound
        let length = datagram.bigEndian24(start + 1)
        let (offset, fragment) = (datagram.bigEndian24(start + 6), datagram.bigEndian24(start + 9))
        guard Self.isExpected(datagram.byte(start), by: role), datagram.bigEndian16(start + 4) < 32 else {
            return false
        }
        return length <= 16_384 && fragment <= body.count - 12 && offset + fragment <= length
    }

    /// Returns true for the handshake messages that are sent unencrypted (RFC 5246 §7.4; 3 is RFC 6347's HelloVerifyRequest).
    private static func isExpected(_ kind: UInt8, by role: DTLSRole) -> Bool {
        switch kind {
        case 2, 3, 12, 13, 14: role == .client
        case 1, 15, 16: role == .server
        default: kind == 11
        }
    }
}

extension RawSpan {
    fileprivate func bigEndian24(_ offset: Int) -> Int { Int(byte(offset)) << 16 | Int(bigEndian16(offset + 1)) }
}
