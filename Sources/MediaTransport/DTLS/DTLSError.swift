// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The reason that a DTLS session failed, ended, or cannot send.
public enum DTLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The handshake timed out. The value is an unauthenticated alert from the peer's address, if any; it may be forged.
    case timedOut(DTLSAlert?)
    /// The peer's certificate is not the one that its session description announced: a third party may be in between.
    case certificateMismatch(expected: CertificateFingerprint, received: CertificateFingerprint)
    /// The peer showed no certificate.
    case noCertificate
    /// The peer ended the session with this alert.
    case refused(DTLSAlert)
    /// The two sides have no protection profile in common.
    case noProtectionProfile
    /// The peer's handshake is invalid or not supported; the value is the reason, in most cases OpenSSL's text.
    case protocolViolation(String)
    /// The message has this many bytes; 1 to ``DTLSSession/maximumMessageSize`` are allowed.
    case messageSize(Int)
    /// The session is not established, or has ended.
    case notEstablished
    /// Another error of OpenSSL; the value is OpenSSL's text.
    case system(String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .timedOut(let alert?):
            "the encryption handshake timed out; the peer's last alert was '\(alert)'"
        case .timedOut(nil): "encryption could not be agreed on in time"
        case .certificateMismatch(let expected, let received):
            "the peer's certificate is not the one it announced: somebody may be in between (announced \(expected), shown \(received))"
        case .noCertificate: "the peer shows no certificate"
        case .refused(let alert): "the peer has ended the connection: \(alert)"
        case .noProtectionProfile: "the peer knows no way to encrypt sound that is good enough"
        case .protocolViolation(let reason): "the peer's DTLS handshake is not supported (\(reason))"
        case .messageSize(let count): "a message of \(count) bytes; one has 1 to \(DTLSSession.maximumMessageSize)"
        case .notEstablished: "there is no encrypted connection to send on"
        case .system(let reason): "OpenSSL: \(reason)"
        }
    }
}

/// The reason that one side ends a session (RFC 5246 §7.2, `AlertDescription`).
public struct DTLSAlert: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The wire value.
    public let rawValue: UInt8

    /// Creates an alert from its wire value.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// OpenSSL's name of the alert.
    public var description: String {
        unsafe SSL_alert_desc_string_long(CInt(rawValue)).map { unsafe String(cString: $0) } ?? "alert \(rawValue)"
    }
}
