// SPDX-License-Identifier: Apache-2.0

@testable import EarshotMediaTransport

/// A message's contents, without its memory.
struct STUNContents: Hashable {
    var messageClass: STUNMessage.Class
    var method: UInt16
    var id: STUNTransactionID
    var hasFingerprint: Bool
    var username: String?
    var software: String?
    var priority: UInt32?
    var usesCandidate: Bool
    var controlled: UInt64?
    var controlling: UInt64?
    var xorMapped: SocketAddress?
    var errorCode: Int?
    var errorReason: String?
    var unknown: [UInt16]?

    init(_ bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { try STUNContents(STUNMessage(parsing: $0.bytes)) }
    }

    init(_ message: STUNMessage) {
        messageClass = message.messageClass
        method = message.method
        id = message.transactionID
        hasFingerprint = message.hasFingerprint
        if let name = message.username { username = name.text }
        software = message.software
        priority = message.priority
        usesCandidate = message.usesCandidate
        controlled = message.controlledTieBreaker
        controlling = message.controllingTieBreaker
        xorMapped = message.xorMappedAddress
        errorCode = message.errorCode
        errorReason = message.errorReason
        unknown = message.unknownAttributes
    }
}

/// Returns true if bytes are a message that was created with `key`.
func isAuthentic(_ bytes: [UInt8], key: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
        key.withUnsafeBytes { key in (try? STUNMessage(parsing: bytes.bytes))?.isAuthentic(key: key.bytes) ?? false }
    }
}

/// A message as `body` writes it.
func stun(
    _ messageClass: STUNMessage.Class, method: UInt16 = STUNMessage.binding,
    id: STUNTransactionID = STUNTransactionID(high: 1, low: 2), _ body: (inout STUNWriter) -> Void
) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xAA, count: STUNMessage.maximumSize)
    let count = bytes.withMutableRawSpan { bytes in
        var writer = STUNWriter(
            messageClass, method: method, transactionID: id, into: bytes.extracting(0..<bytes.byteCount))
        body(&writer)
        return writer.message.byteCount
    }
    return Array(bytes.prefix(count))
}

extension STUNWriter {
    @_lifetime(self: copy self)
    mutating func addUsername(_ text: String) { addUsername(Array(text.utf8).span.bytes) }

    /// Adds MESSAGE-INTEGRITY and FINGERPRINT.
    @_lifetime(self: copy self)
    mutating func seal(_ password: String) {
        addMessageIntegrity(key: Array(password.utf8).span.bytes)
        addFingerprint()
    }
}
