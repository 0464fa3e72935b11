// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transport to one member, and its descriptions.
struct MemberTransport {
    var transportID: MediaPort.TransportID
    let credentials: ICECredentials
    /// The pending offer, until it is answered.
    var offer: (id: OfferID, description: SessionDescription)?
    /// The remote parameters, to which addresses are added; nil until known.
    var remote: RemoteTransportParameters?

    init(_ transportID: MediaPort.TransportID, _ credentials: ICECredentials) {
        self.transportID = transportID
        self.credentials = credentials
    }

    /// Returns true if a description has the same transport (RFC 8839 §4.4.1.1.1, RFC 8842 §5.1).
    func isDescribed(by description: RemoteTransportDescription) -> Bool {
        remote?.credentials == description.ice.credentials && remote?.certificate == description.certificate
    }

    /// Adds new candidates.
    /// - Returns: false if none is new.
    mutating func add(_ candidates: [ICECandidate]) -> Bool {
        guard var remote else { return false }
        let known = remote.candidates.map(\.address)
        remote.candidates += candidates.filter { !known.contains($0.address) }
        guard remote.candidates.count != known.count else { return false }
        remote.candidates = Array(remote.candidates.suffix(2 * Member.maximumAddressCount))
        self.remote = remote
        return true
    }
}

extension PeerID {
    /// Creates the port's ID of a member, which has the same number.
    package init(_ member: MemberID) { self.init(Int(member.number)) }
}
