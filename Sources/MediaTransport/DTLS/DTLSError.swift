// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The reason that a DTLS session failed, ended, or cannot send.
public enum DTLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The handshake timed out. The value is an unauthenticated alert from the peer's address, if any; it may be forged.
    case timedOut(DTLSAlert?)
    /// The peer showed another certificate than its session description has: somebody may be in between.
    case certificateMismatch(expected: CertificateFingerprint, received: CertificateFingerprint)
    /// The peer showed no certificate.
    case noCertificate
    /// The peer ended it, with this alert.
    case refused(DTLSAlert)
    /// The two have no way in common to protect media.
    case noProtectionProfile
    /// The peer's message belongs to no handshake of Earshot; OpenSSL's words.
    case protocolViolation(String)
    /// A message of this many bytes; 1 to ``DTLSSession/maximumMessageSize`` can be sent.
    case messageSize(Int)
    /// The session is not established, or not any more.
    case notEstablished
    /// Another error of OpenSSL.
    case system(String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .timedOut(let alert?):
            "encryption could not be agreed on in time; the peer's last words were '\(alert)'"
        case .timedOut(nil): "encryption could not be agreed on in time"
        case .certificateMismatch(let expected, let received):
            "the peer's certificate is not the one it announced: somebody may be in between (announced \(expected), shown \(received))"
        case .noCertificate: "the peer shows no certificate"
        case .refused(let alert): "the peer has ended the connection: \(alert)"
        case .noProtectionProfile: "the peer knows no way to encrypt sound that is good enough"
        case .protocolViolation(let reason): "the peer does not speak DTLS 1.2 as Earshot does (\(reason))"
        case .messageSize(let count): "a message of \(count) bytes; one has 1 to \(DTLSSession.maximumMessageSize)"
        case .notEstablished: "there is no encrypted connection to send on"
        case .system(let reason): "OpenSSL: \(reason)"
        }
    }
}

/// The reason that one side ends a session (RFC 5246 §7.2, `AlertDescription`).
public struct DTLSAlert: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The value on the wire.
    public let rawValue: UInt8

    /// An alert of this value on the wire.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// In words, as OpenSSL puts them.
    public var description: String {
        unsafe SSL_alert_desc_string_long(CInt(rawValue)).map { unsafe String(cString: $0) } ?? "alert \(rawValue)"
    }
}
