// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transport in a remote description: ICE, the DTLS setup and the certificate.
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

    /// Returns the transport's parameters. The candidates include the member's addresses in the roster.
    /// - Parameter role: the local peer's DTLS role.
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
    /// The remote description is not encrypted, lacks ICE, DTLS setup or fingerprint, or has a setup that does not fit.
    case noTransport
    /// The remote peer refused the stream; the values are the formats of the local offer and of the remote answer.
    case nothingInCommon(offered: [String], taken: [String])
    /// The remote peer declined the offer without a reason.
    case refused

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noTransport:
            "the remote peer's description lacks ICE, setup or fingerprint"
        case .nothingInCommon(let offered, let taken):
            // A format in both lists replaces another codec during a call. It is omitted, because it is not accepted alone.
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
    /// The ICE candidates of a member: the addresses in the roster, with the member's port.
    var candidates: [ICECandidate] { ICECandidate.hosts(addresses, port: port) }
}

extension SessionDescription {
    /// Returns an offer without media, for a transport that carries only messages.
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
