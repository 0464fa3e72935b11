// SPDX-License-Identifier: Apache-2.0

/// The reason that bytes are not a STUN message (RFC 8489 §5, §6.3, §14).
package enum STUNError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The datagram is shorter than a STUN header; the value is the datagram's length in bytes.
    case tooShort(Int)
    /// The datagram is longer than ``STUNMessage/maximumSize``; the value is the datagram's length in bytes.
    case tooLarge(Int)
    /// The first two bits are not zero, or there is no magic cookie: another protocol, or STUN of RFC 3489.
    case notSTUN
    /// The length in the header differs from that of the attributes, or is no multiple of four; the values are bytes.
    case wrongLength(announced: Int, present: Int)
    /// The attribute of this type exceeds the message.
    case attributeOverrun(UInt16)
    /// A MESSAGE-INTEGRITY or FINGERPRINT has a wrong length; the value is the attribute's type.
    case badAttribute(UInt16)
    /// FINGERPRINT is not the last attribute.
    case misplacedFingerprint
    /// FINGERPRINT does not match: the message is damaged, or another protocol that looks like STUN.
    case wrongFingerprint

    /// One line for a log.
    package var description: String {
        switch self {
        case .tooShort(let count):
            "a datagram of \(count) bytes is too short for STUN"
        case .tooLarge(let count):
            "a STUN message of \(count) bytes exceeds \(STUNMessage.maximumSize); the sender is faulty or hostile"
        case .notSTUN: "no STUN message"
        case .wrongLength(let announced, let present):
            "a STUN header announces \(announced) bytes but \(present) follow; the packet was cut or the sender is faulty"
        case .attributeOverrun(let type):
            "STUN attribute \(type) reaches beyond the message; the packet was cut or the sender is faulty"
        case .badAttribute(let type): "STUN attribute \(type) has the wrong length; the sender is faulty"
        case .misplacedFingerprint: "a STUN FINGERPRINT is not the last attribute; the sender is faulty"
        case .wrongFingerprint: "a STUN FINGERPRINT is wrong; the message was damaged or is not STUN"
        }
    }
}
