// SPDX-License-Identifier: Apache-2.0

/// The supported attribute types (RFC 8489 §18.3, RFC 8445 §16.1).
enum STUNAttribute {
    static let mappedAddress: UInt16 = 0x0001
    static let username: UInt16 = 0x0006
    static let messageIntegrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let xorMappedAddress: UInt16 = 0x0020
    static let priority: UInt16 = 0x0024
    static let useCandidate: UInt16 = 0x0025
    static let software: UInt16 = 0x8022
    static let fingerprint: UInt16 = 0x8028
    static let iceControlled: UInt16 = 0x8029
    static let iceControlling: UInt16 = 0x802A

    /// The bytes of an attribute's header, which has a type and a length.
    static let headerSize = 4
    /// The bytes of a MESSAGE-INTEGRITY with its header.
    static let messageIntegritySize = headerSize + HMACSHA1.size
    /// The bytes of a FINGERPRINT with its header.
    static let fingerprintSize = headerSize + 4

    /// Returns true if a message may be processed without understanding attributes of this type (RFC 8489 §14).
    static func isOptional(_ type: UInt16) -> Bool { type >= 0x8000 }

    static func isKnown(_ type: UInt16) -> Bool {
        switch type {
        case mappedAddress, username, messageIntegrity, errorCode, unknownAttributes, xorMappedAddress, priority,
            useCandidate, software, fingerprint, iceControlled, iceControlling:
            true
        default: false
        }
    }
}

/// The error codes of agents (RFC 8489 §14.8, RFC 8445 §7.3.1.1).
enum STUNErrorCode {
    static let unknownAttribute = 420
    static let roleConflict = 487
}
