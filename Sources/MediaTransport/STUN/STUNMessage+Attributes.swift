// SPDX-License-Identifier: Apache-2.0

/// Each property reads the first attribute of its type (RFC 8489 §14), and is nil if there is none or it is malformed.
extension STUNMessage {
    /// USERNAME: in ICE the receiver's fragment, a colon, and the sender's (RFC 8445 §7.2.2).
    package var username: RawSpan? {
        @_lifetime(copy self) get { value(of: STUNAttribute.username) }
    }

    /// SOFTWARE: the name of the sender's program.
    package var software: String? {
        guard let value = value(of: STUNAttribute.software) else { return nil }
        return value.text
    }

    /// PRIORITY: the priority of a peer-reflexive candidate that the check may reveal (RFC 8445 §7.1.1).
    package var priority: UInt32? {
        guard let value = value(of: STUNAttribute.priority), value.byteCount == 4 else { return nil }
        return value.bigEndian32(0)
    }

    /// USE-CANDIDATE: true if the controlling side nominates this pair (RFC 8445 §7.1.2).
    package var usesCandidate: Bool { range(of: STUNAttribute.useCandidate) != nil }

    /// ICE-CONTROLLED: the tie-breaker of a sender that considers itself controlled.
    package var controlledTieBreaker: UInt64? { tieBreaker(STUNAttribute.iceControlled) }

    /// ICE-CONTROLLING: the tie-breaker of a sender that considers itself controlling.
    package var controllingTieBreaker: UInt64? { tieBreaker(STUNAttribute.iceControlling) }

    /// XOR-MAPPED-ADDRESS: the source of the request, hidden from routers that rewrite addresses (§14.2).
    package var xorMappedAddress: SocketAddress? {
        guard let value = value(of: STUNAttribute.xorMappedAddress), let masked = address(value) else { return nil }
        return masked.masked(by: transactionID)
    }

    /// ERROR-CODE: 300 to 699 (§14.8).
    package var errorCode: Int? {
        guard let value = errorValue else { return nil }
        return Int(value.byte(2) & 7) * 100 + Int(value.byte(3))
    }

    /// ERROR-CODE: the explanatory text of ``errorCode``.
    package var errorReason: String? {
        guard let value = errorValue else { return nil }
        return value.extracting(4...).text
    }

    /// UNKNOWN-ATTRIBUTES: the types that the answering side did not understand (§14.9).
    package var unknownAttributes: [UInt16]? {
        guard let value = value(of: STUNAttribute.unknownAttributes), value.byteCount % 2 == 0 else { return nil }
        return stride(from: 0, to: value.byteCount, by: 2).map { value.bigEndian16($0) }
    }

    /// Calls `body` with the type of each required attribute that is not supported.
    func forEachNotUnderstood(_ body: (UInt16) -> Void) {
        forEachAttribute { type, _ in
            if !STUNAttribute.isOptional(type), !STUNAttribute.isKnown(type) { body(type) }
            return true
        }
    }

    private var errorValue: RawSpan? {
        @_lifetime(copy self) get {
            guard let value = value(of: STUNAttribute.errorCode), value.byteCount >= 4,
                (3...6).contains(value.byte(2) & 7), value.byte(3) < 100
            else { return nil }
            return value
        }
    }

    private func tieBreaker(_ type: UInt16) -> UInt64? {
        guard let value = value(of: type), value.byteCount == 8 else { return nil }
        return UInt64(value.bigEndian32(0)) << 32 | UInt64(value.bigEndian32(4))
    }

    private func address(_ value: RawSpan) -> SocketAddress? {
        guard value.byteCount >= 8 else { return nil }
        let port = value.bigEndian16(2)
        switch (value.byte(1), value.byteCount) {
        case (1, 8): return SocketAddress(.v4(value.bigEndian32(4)), port: port)
        case (2, 20):
            return SocketAddress(.v6(value.bigEndian128(4), scope: 0), port: port)
        default: return nil
        }
    }

    @_lifetime(copy self)
    private func value(of wanted: UInt16) -> RawSpan? {
        guard let range = range(of: wanted) else { return nil }
        return bytes.extracting(range)
    }

    private func range(of wanted: UInt16) -> Range<Int>? {
        var found: Range<Int>?
        forEachAttribute { type, range in
            if type == wanted { found = range }
            return found == nil
        }
        return found
    }

    /// Calls `body` with the type of each readable attribute and the range of its value, until `body` returns false.
    private func forEachAttribute(_ body: (UInt16, Range<Int>) -> Bool) {
        var offset = Self.headerSize
        while offset < attributesEnd {
            let start = offset + STUNAttribute.headerSize
            let size = Int(bytes.bigEndian16(offset + 2))
            guard body(bytes.bigEndian16(offset), start..<start + size) else { return }
            offset = start + Self.padded(size)
        }
    }
}

extension SocketAddress {
    /// Returns the address with XOR-MAPPED-ADDRESS's mask applied or removed (RFC 8489 §14.2), without a scope.
    func masked(by id: STUNTransactionID) -> SocketAddress {
        let cookie = STUNMessage.magicCookie
        let port = port ^ UInt16(cookie >> 16)
        switch address {
        case .v4(let bits): return SocketAddress(.v4(bits ^ cookie), port: port)
        case .v6(let bits, _):
            let mask = UInt128(cookie) << 96 | UInt128(id.high) << 64 | UInt128(id.low)
            return SocketAddress(.v6(bits ^ mask, scope: 0), port: port)
        }
    }
}
