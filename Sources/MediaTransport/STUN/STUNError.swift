// SPDX-License-Identifier: Apache-2.0

/// The reason that bytes are not a STUN message (RFC 8489 §5, §6.3, §14).
package enum STUNError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Shorter than a header; the value is the length in bytes.
    case tooShort(Int)
    /// Longer than ``STUNMessage/maximumSize``; the value is the length in bytes.
    case tooLarge(Int)
    /// The first two bits are not zero, or the magic cookie is not there: something else, or RFC 3489's STUN.
    case notSTUN
    /// The header's length is not that of what follows it, or no multiple of four; in bytes.
    case wrongLength(announced: Int, present: Int)
    /// The attribute of this type reaches beyond the message.
    case attributeOverrun(UInt16)
    /// A MESSAGE-INTEGRITY or FINGERPRINT of another length than its own; the value is the attribute's type.
    case badAttribute(UInt16)
    /// A FINGERPRINT that is not the last attribute.
    case misplacedFingerprint
    /// A FINGERPRINT that is not this message's: damaged, or something else that looks like STUN.
    case wrongFingerprint

    /// One line for a log.
    package var description: String {
        switch self {
        case .tooShort(let count):
            "a datagram of \(count) bytes is too short for STUN"
        case .tooLarge(let count):
            "a STUN message of \(count) bytes exceeds \(STUNMessage.maximumSize); the sender is broken or hostile"
        case .notSTUN: "no STUN message"
        case .wrongLength(let announced, let present):
            "a STUN header announces \(announced) bytes where \(present) follow; the sender is broken or it was cut"
        case .attributeOverrun(let type):
            "STUN attribute \(type) reaches beyond the message; the sender is broken or it was cut"
        case .badAttribute(let type): "STUN attribute \(type) has a wrong length; the sender is broken"
        case .misplacedFingerprint: "a STUN FINGERPRINT is not the last attribute; the sender is broken"
        case .wrongFingerprint: "a STUN FINGERPRINT does not fit; the message was damaged, or is none"
        }
    }
}
