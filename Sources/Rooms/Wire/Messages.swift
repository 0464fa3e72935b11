// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The public description of a room: the answer to `GET /room`. The key is a claim; the TLS handshake proves it.
public struct RoomInfo: Hashable, Sendable, Codable {
    /// The answering peer's role in the room.
    public enum Role: String, Hashable, Sendable, Codable {
        /// The host.
        case host
        /// A guest, which names the host as far as it knows.
        case guest
    }

    var version = WireJSON.version
    /// The room's identity.
    public var room: RoomID
    /// The room's name.
    public var name: PeerName
    /// Handovers of the room to another host.
    package var epoch: Epoch
    /// The answering peer's role.
    public var role: Role
    /// The name of the host.
    public var hostName: PeerName
    /// The key of the host.
    public var hostKey: KeyFingerprint
    /// A guest's: whether it hears its host at present. A host's is always true.
    package var isHostHeard: Bool
    /// The number of participants.
    public var memberCount: Int
    /// The greatest number of native members.
    public var capacity: Int
    /// True if a PIN is needed.
    public var needsPIN: Bool
    /// The nonce of the PIN's proof; from the host of a room with a PIN only.
    var nonce: Base64?

    private enum CodingKeys: String, CodingKey {
        case version, room, name, epoch, role, hostName, hostKey
        case isHostHeard = "hostHeard"
        case memberCount = "members"
        case capacity
        case needsPIN = "pin"
        case nonce
    }
}

/// A request to join: the body of `POST /room/guests`.
package struct JoinRequestBody: Hashable, Sendable, Codable {
    var version = WireJSON.version
    /// The guest's name.
    package var name: PeerName
    /// The guest's purpose.
    package var purpose: Purpose?
    /// The guest's addresses, as far as it knows.
    var addresses: [String]
    /// Its port for signalling and media; 0 for a browser.
    package var port: UInt16
    /// True if it is muted from the start.
    package var muted: Bool?
    /// The proof of ``PINKey``.
    var pinProof: Base64?
    /// Instead of a key's fingerprint, for a browser's proof: 16 to 32 random bytes.
    var pinSeed: Base64?
    /// True if the guest's key is for this time only, so that there is no use in remembering it.
    var ephemeral: Bool?

    /// A request without a PIN's proof.
    package init(
        name: PeerName, purpose: Purpose? = nil, addresses: [IPAddress], port: UInt16, isMuted: Bool = false,
        isEphemeral: Bool = false
    ) {
        self.name = name
        self.purpose = purpose
        self.addresses = Member.bounded(addresses).map(\.description)
        self.port = port
        muted = isMuted
        ephemeral = isEphemeral ? true : nil
    }

    /// The guest's addresses.
    package var reachableAddresses: [IPAddress] {
        Member.bounded(addresses.prefix(Member.maximumAddressCount).compactMap(IPAddress.init(wire:)))
    }
}

/// The admission of a guest: status 201 of `POST /room/guests`.
package struct Admission: Hashable, Sendable, Codable {
    var version = WireJSON.version
    /// The guest's number.
    package var member: MemberID
    /// A browser's token, which it sends instead of a certificate from now on: `Authorization: Bearer`.
    package var token: String?
    /// The host's proof that it knows the PIN, if the guest gave one.
    var hostProof: Base64?
    /// The room's roster.
    package var roster: Roster
}

/// A member's update of itself: the body of `PATCH /room/members/me`. Nothing in it is a sign of life.
package struct MemberUpdate: Hashable, Sendable, Codable {
    /// Another name.
    package var name: PeerName?
    /// True if it is muted.
    package var muted: Bool?
    /// The member's present addresses.
    var addresses: [String]?

    /// An update; nil changes nothing.
    package init(name: PeerName? = nil, isMuted: Bool? = nil, addresses: [IPAddress]? = nil) {
        self.name = name
        muted = isMuted
        self.addresses = addresses.map { Member.bounded($0).map(\.description) }
    }

    var reachableAddresses: [IPAddress]? {
        addresses.map { Member.bounded($0.prefix(Member.maximumAddressCount).compactMap(IPAddress.init(wire:))) }
    }

    /// This update and a later one in one.
    func followed(by later: MemberUpdate) -> MemberUpdate {
        MemberUpdate(
            name: later.name ?? name, isMuted: later.muted ?? muted,
            addresses: later.reachableAddresses ?? reachableAddresses)
    }
}

/// The answer to a ``MemberUpdate``: what the roster's newest version is, so that a gap is noticed.
package struct MemberStatus: Hashable, Sendable, Codable {
    /// The roster's.
    package var epoch: Epoch
    /// The roster's.
    package var revision: UInt64

    init(epoch: Epoch, revision: UInt64) {
        self.epoch = epoch
        self.revision = revision
    }

    /// From an object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        epoch = try container.decode(Epoch.self, forKey: .epoch)
        revision = try container.decode(WireNumber.self, forKey: .revision).value
    }
}
