// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transport to one member, with the pending local offer and the remote peer's parameters.
struct MemberTransport {
    var transportID: MediaPort.TransportID
    let credentials: ICECredentials
    /// The pending local offer; nil once it is answered.
    var offer: (id: OfferID, description: SessionDescription)?
    /// The remote peer's parameters, with candidates that were added later; nil until they are known.
    var remote: RemoteTransportParameters?

    init(_ transportID: MediaPort.TransportID, _ credentials: ICECredentials) {
        self.transportID = transportID
        self.credentials = credentials
    }

    /// Returns true if a remote description is of this transport: ICE credentials and certificate are the same (RFC 8839
    /// §4.4.1.1.1, RFC 8842 §5.1).
    func isDescribed(by description: RemoteTransportDescription) -> Bool {
        remote?.credentials == description.ice.credentials && remote?.certificate == description.certificate
    }

    /// Adds new candidates.
    /// - Returns: false if none is new, or the remote peer's parameters are not known yet.
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
    /// Creates the id by which a media port knows a member: the member's number in the room.
    package init(_ member: MemberID) { self.init(Int(member.number)) }
}
