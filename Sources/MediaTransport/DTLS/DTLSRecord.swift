// SPDX-License-Identifier: Apache-2.0

/// One DTLS record in a datagram; a datagram may contain several (RFC 6347 §4.1, §4.3.1).
struct DTLSRecord: Hashable {
    enum Content: UInt8 {
        case changeCipherSpec = 20
        case alert, handshake, applicationData
    }

    static let headerSize = 13
    /// The minimum bytes of an encrypted record's body: AES-GCM's nonce and tag (RFC 5288 §3).
    private static let minimumEncryptedSize = 8 + 16

    var content: Content
    /// The record's epoch; records of epoch 0 are unencrypted.
    var epoch: UInt16
    /// The range of the record in the datagram, including the record's header.
    var bytes: Range<Int>

    var body: Range<Int> { bytes.lowerBound + Self.headerSize..<bytes.upperBound }

    /// Reads the record at `start`; nil if there is none or it is invalid: the rest of the datagram is then unusable.
    init?(_ datagram: RawSpan, at start: Int) {
        guard datagram.byteCount - start >= Self.headerSize, let content = Content(rawValue: datagram.byte(start)),
            datagram.byte(start + 1) == 0xFE  // the major version, both of DTLS 1.0 (first message) and 1.2
        else { return nil }
        let size = Int(datagram.bigEndian16(start + 11))
        guard size <= datagram.byteCount - start - Self.headerSize else { return nil }
        self.content = content
        epoch = datagram.bigEndian16(start + 3)
        bytes = start..<start + Self.headerSize + size
    }

    /// Returns true if the record may be encrypted with the session's keys. A shorter record, which anyone could send, would make
    /// OpenSSL 3.0 end the session.
    var mayBeEncrypted: Bool { epoch == 1 && content != .changeCipherSpec && body.count >= Self.minimumEncryptedSize }

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

    /// Returns true if this role may receive an unencrypted handshake message of this kind (RFC 5246 §7.4; 3 is RFC 6347's
    /// HelloVerifyRequest).
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
