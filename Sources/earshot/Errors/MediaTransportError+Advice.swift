// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension UDPSocketError: AdvisedError {
    var advice: String? {
        switch self {
        case .portInUse(let port): "Use another port, or see what uses it: ss -lunp 'sport = :\(port)'"
        case .permissionDenied: "Use a port from 1024 upwards, and check that no firewall blocks it."
        case .addressNotAvailable: "List this machine's addresses: ip address"
        case .unreachable(let peer): "Check the network: ip route get \(peer.address)"
        case .tooLarge: nil
        case .system: "Try again, and report it if it happens again."
        }
    }
}

extension IdentityError: AdvisedError {
    var advice: String? {
        switch self {
        case .notAPrivateKey: "Restore the file, or remove it to get a new identity."
        case .encryptedKey: "Store the key without a passphrase, in a file that only you may read."
        case .damagedKey: "Restore the file from a copy."
        case .notACertificate, .otherKeysCertificate, .badSignature:
            "Remove the certificate file; Earshot creates a new one."
        case .notAPublicKey: "Check that the peer runs this version of Earshot."
        case .badDate: "Set the machine's clock."
        case .system: "Try again, and report it if it happens again."
        case .wrongKind, .badHostName, .tooManyNames: nil
        }
    }
}

extension DTLSError: AdvisedError {
    var advice: String? {
        switch self {
        case .timedOut(.some): "Try again on both sides."
        case .timedOut(nil): "Try again on both sides, and check that no firewall blocks UDP."
        case .certificateMismatch: nil
        case .noCertificate: "Check that the peer is a browser or Earshot."
        case .refused: "See what the peer printed."
        case .noProtectionProfile, .protocolViolation: "Update the peer's program."
        case .messageSize, .notEstablished: nil
        case .system: "Try again, and report it if it happens again."
        }
    }
}

extension SRTPError: AdvisedError {
    var advice: String? {
        switch self {
        case .malformed: "Check what else sends to this port."
        case .keyExpired: "Connect again."
        case .system: "Connect again, and report it if it happens again."
        case .authentication, .replay, .tooOld, .tooManySources: nil
        }
    }
}

extension TransportError: AdvisedError {
    var advice: String? {
        switch self {
        case .handshake(let error): error.advice
        case .otherKey: "Do not continue until you know why."
        case .protection(let error): error.advice
        }
    }
}

extension NegotiationError: AdvisedError {
    var advice: String? {
        switch self {
        case .noCommonFormat: "Use the same --codec, --rate and --channels on both sides."
        case .answerNotOffered: "Check that the peer runs this version of Earshot."
        case .otherTransport: nil
        case .noAudio: "Ask the peer to accept audio."
        }
    }
}

extension ResolutionError: AdvisedError {
    var advice: String? { "Check the spelling, or use the numeric address." }
}

extension NetworkError: AdvisedError {
    var advice: String? { "Check that this command works: ip address" }
}
