// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transport of a description: ICE, the DTLS role and the certificate.
struct RemoteTransportDescription {
    let ice: SessionDescription.ICE
    let setup: DTLSSetup
    let certificate: CertificateFingerprint

    init(_ description: SessionDescription) throws(NegotiationFault) {
        guard description.profile.isSecure, let ice = description.ice, let setup = description.setup,
            let certificate = description.certificateFingerprint
        else { throw .noTransport }
        self.ice = ice
        self.setup = setup
        self.certificate = certificate
    }

    /// - Parameter role: the local role.
    func remote(_ role: DTLSRole, also member: Member) -> RemoteTransportParameters {
        let known = ice.candidates.map(\.address)
        return RemoteTransportParameters(
            credentials: ice.credentials,
            candidates: ice.candidates + member.candidates.filter { !known.contains($0.address) },
            certificate: certificate, dtlsRole: role)
    }
}

/// The reason that no media transport was negotiated.
public enum NegotiationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The description has no encryption, or an invalid one.
    case noTransport
    /// The other side refused the stream.
    case nothingInCommon(offered: [String], taken: [String])
    /// The other side ended the offer without a reason.
    case refused

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noTransport:
            "the remote peer's description lacks ICE, setup or fingerprint"
        case .nothingInCommon(let offered, let taken):
            // A replacement that the remote peer accepts only besides its codec is not worth mentioning.
            "no common format: \(Self.list(offered)) here, \(Self.list(taken.filter { !offered.contains($0) })) there"
        case .refused: "the remote peer took no media"
        }
    }

    private static func list(_ formats: [String]) -> String {
        // Redundancy and retransmission are no codecs.
        let codecs = formats.filter { !$0.hasPrefix("red/") && !$0.hasPrefix("rtx/") }
        return codecs.isEmpty ? "nothing" : codecs.joined(separator: ", ")
    }
}

extension Member {
    /// The candidates of the member's port, by the roster.
    var candidates: [ICECandidate] { ICECandidate.hosts(addresses, port: port) }
}

extension SessionDescription {
    /// Returns a description of a transport for messages, without media.
    static func withoutMedia(sessionID: UInt64) -> SessionDescription {
        var description = SessionDescription.offer(
            formats: [.opus()], address: .any, port: 9, sessionID: sessionID, profile: .dtlsSAVPF)
        description.direction = .inactive
        return description
    }

    /// Returns the answer without media to this description.
    func answeredWithoutMedia(sessionID: UInt64) throws(NegotiationError) -> SessionDescription {
        var description = try SessionDescription.answer(
            to: self, supporting: formats, address: .any, port: 9, sessionID: sessionID)
        description.direction = .inactive
        return description
    }
}
