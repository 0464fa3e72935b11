// SPDX-License-Identifier: Apache-2.0

/// Writes a STUN message into a caller's memory, attribute by attribute. It allocates nothing; libcrypto allocates and frees
/// while it makes a code.
///
/// After each attribute ``message`` is well-formed. MESSAGE-INTEGRITY and FINGERPRINT come last, because they cover what precedes
/// them.
package struct STUNWriter: ~Copyable, ~Escapable {
    private var buffer: MutableRawSpan
    private let transactionID: STUNTransactionID
    private var count = STUNMessage.headerSize
    /// The byte that pads values to four bytes. RFC 8489 requires zeros; the vectors of RFC 5769 have spaces.
    var padding: UInt8 = 0

    /// Begins a message.
    /// - Precondition: `buffer` has room for all attributes.
    @_lifetime(copy buffer)
    package init(
        _ messageClass: STUNMessage.Class, method: UInt16 = STUNMessage.binding, transactionID: STUNTransactionID,
        into buffer: consuming MutableRawSpan
    ) {
        precondition(method < 0x1000)
        self.transactionID = transactionID
        let bits = messageClass.rawValue
        buffer.put(
            method & 0x000F | method << 1 & 0x00E0 | method << 2 & 0x3E00 | bits << 4 & 0x0010 | bits << 7 & 0x0100,
            at: 0)
        buffer.put(0 as UInt16, at: 2)
        buffer.put(STUNMessage.magicCookie, at: 4)
        buffer.put(transactionID.high, at: 8)
        buffer.put(transactionID.low, at: 12)
        self.buffer = buffer
    }

    /// The message so far.
    package var message: RawSpan {
        @_lifetime(borrow self) get { buffer.bytes.extracting(..<count) }
    }

    /// Adds USERNAME.
    @_lifetime(self: copy self)
    package mutating func addUsername(_ name: RawSpan) { add(STUNAttribute.username, name) }

    /// Adds SOFTWARE.
    @_lifetime(self: copy self)
    package mutating func addSoftware(_ name: String) { add(STUNAttribute.software, name) }

    /// Adds PRIORITY.
    @_lifetime(self: copy self)
    package mutating func addPriority(_ priority: UInt32) {
        let valueStart = addHeader(STUNAttribute.priority, size: 4)
        buffer.put(priority, at: valueStart)
    }

    /// Adds USE-CANDIDATE.
    @_lifetime(self: copy self)
    package mutating func addUseCandidate() { _ = addHeader(STUNAttribute.useCandidate, size: 0) }

    /// Adds ICE-CONTROLLING.
    @_lifetime(self: copy self)
    package mutating func addControlling(tieBreaker: UInt64) {
        let valueStart = addHeader(STUNAttribute.iceControlling, size: 8)
        buffer.put(tieBreaker, at: valueStart)
    }

    /// Adds ICE-CONTROLLED.
    @_lifetime(self: copy self)
    package mutating func addControlled(tieBreaker: UInt64) {
        let valueStart = addHeader(STUNAttribute.iceControlled, size: 8)
        buffer.put(tieBreaker, at: valueStart)
    }

    /// Adds XOR-MAPPED-ADDRESS.
    @_lifetime(self: copy self)
    package mutating func addXORMappedAddress(_ address: SocketAddress) {
        add(STUNAttribute.xorMappedAddress, address.masked(by: transactionID))
    }

    /// Adds ERROR-CODE.
    /// - Precondition: the code is 300 to 699.
    @_lifetime(self: copy self)
    package mutating func addErrorCode(_ code: Int, reason: String) {
        precondition((300..<700).contains(code))
        let reason = reason.utf8
        let valueStart = addHeader(STUNAttribute.errorCode, size: 4 + reason.count)
        buffer.put(UInt32(code / 100) << 8 | UInt32(code % 100), at: valueStart)
        for (i, byte) in reason.enumerated() { buffer.put(byte, at: valueStart + 4 + i) }
    }

    /// Adds UNKNOWN-ATTRIBUTES: the types of required attributes in `request` that are not supported, at most eight.
    @_lifetime(self: copy self)
    package mutating func addUnknownAttributes(of request: STUNMessage) {
        let valueStart = addHeader(STUNAttribute.unknownAttributes, size: 0)
        var size = 0
        request.forEachNotUnderstood { type in
            guard size < 16 else { return }
            buffer.put(type, at: valueStart + size)
            size += 2
        }
        count = valueStart
        fill(valueStart, size: size, headerAt: valueStart - STUNAttribute.headerSize)
    }

    /// Adds MESSAGE-INTEGRITY over everything before it (RFC 8489 §14.5).
    /// - Parameter key: in ICE the bytes of the password of the agent that answers, in a request and in its answer.
    @_lifetime(self: copy self)
    package mutating func addMessageIntegrity(key: RawSpan) {
        let coveredSize = count
        let valueStart = addHeader(STUNAttribute.messageIntegrity, size: HMACSHA1.size)
        let code = HMACSHA1.code(of: buffer.bytes.extracting(..<coveredSize), key: key)
        unsafe buffer.put(code.span.bytes, at: valueStart)
    }

    /// Adds FINGERPRINT (RFC 8489 §14.7).
    @_lifetime(self: copy self)
    package mutating func addFingerprint() {
        let coveredSize = count
        let valueStart = addHeader(STUNAttribute.fingerprint, size: 4)
        buffer.put(CRC32.of(buffer.bytes.extracting(..<coveredSize)) ^ STUNMessage.fingerprintMask, at: valueStart)
    }

    /// Adds an attribute of any type and value.
    @_lifetime(self: copy self)
    mutating func add(_ type: UInt16, _ bytes: RawSpan) {
        let valueStart = addHeader(type, size: bytes.byteCount)
        buffer.put(bytes, at: valueStart)
    }

    @_lifetime(self: copy self)
    private mutating func add(_ type: UInt16, _ text: String) {
        let valueStart = addHeader(type, size: text.utf8.count)
        for (i, byte) in text.utf8.enumerated() { buffer.put(byte, at: valueStart + i) }
    }

    @_lifetime(self: copy self)
    private mutating func add(_ type: UInt16, _ address: SocketAddress) {
        let valueStart = addHeader(type, size: address.address.isV6 ? 20 : 8)
        buffer.put(address.address.isV6 ? 2 : 1 as UInt16, at: valueStart)
        buffer.put(address.port, at: valueStart + 2)
        switch address.address {
        case .v4(let bits): buffer.put(bits, at: valueStart + 4)
        case .v6(let bits, _):
            buffer.put(UInt64(truncatingIfNeeded: bits >> 64), at: valueStart + 4)
            buffer.put(UInt64(truncatingIfNeeded: bits), at: valueStart + 12)
        }
    }

    /// Adds an attribute without its value: writes the header, the padding and the message's length.
    /// - Returns: the offset at which the value is to be written.
    @_lifetime(self: copy self)
    private mutating func addHeader(_ type: UInt16, size: Int) -> Int {
        precondition(size <= STUNMessage.maximumSize)
        let start = count
        buffer.put(type, at: start)
        fill(start + STUNAttribute.headerSize, size: size, headerAt: start)
        return start + STUNAttribute.headerSize
    }

    @_lifetime(self: copy self)
    private mutating func fill(_ valueStart: Int, size: Int, headerAt header: Int) {
        buffer.put(UInt16(size), at: header + 2)
        count = valueStart + STUNMessage.padded(size)
        for i in (valueStart + size)..<count { buffer.put(padding, at: i) }
        buffer.put(UInt16(count - STUNMessage.headerSize), at: 2)
    }
}

extension MutableRawSpan {
    @_lifetime(self: copy self)
    fileprivate mutating func put(_ value: UInt64, at offset: Int) {
        put(UInt32(truncatingIfNeeded: value >> 32), at: offset)
        put(UInt32(truncatingIfNeeded: value), at: offset + 4)
    }
}
