// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The transport to one member, and the descriptions that it comes from.
struct MemberTransport {
    var way: MediaPort.Way
    let credentials: ICECredentials
    /// The pending offer, until it is answered.
    var offer: (id: OfferID, description: SessionDescription)?
    /// The remote peer's description of itself, to which addresses are added; nil until known.
    var remote: RemoteTransportParameters?

    init(_ way: MediaPort.Way, _ credentials: ICECredentials) {
        self.way = way
        self.credentials = credentials
    }

    /// Returns true if a description is of the same transport (RFC 8839 §4.4.1.1.1, RFC 8842 §5.1).
    func isDescribed(by description: RemoteTransportDescription) -> Bool {
        remote?.credentials == description.ice.credentials && remote?.certificate == description.certificate
    }

    /// Adds candidates that are new.
    /// - Returns: false if none is.
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
    /// A member's number is its number on the port of media.
    package init(_ member: MemberID) { self.init(Int(member.number)) }
}
