// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// What anybody may know of a room: the answer to `GET /room`. The key is a claim; the TLS handshake proves it.
public struct RoomInfo: Hashable, Sendable, Codable {
    /// What the peer that answers is in the room.
    public enum Role: String, Hashable, Sendable, Codable {
        /// It admits.
        case host
        /// It is a member, and says who admits as far as it knows.
        case guest
    }

    var version = WireJSON.version
    /// The room's identity.
    public var room: RoomID
    /// The room's name.
    public var name: PeerName
    /// How often it has changed hands.
    package var epoch: Epoch
    /// What the peer that answers is.
    public var role: Role
    /// The name of the host.
    public var hostName: PeerName
    /// The key of the host.
    public var hostKey: KeyFingerprint
    /// A guest's: whether it hears its host at present. A host's is always true.
    package var isHostHeard: Bool
    /// How many are in it.
    public var memberCount: Int
    /// How many native members it can have.
    public var capacity: Int
    /// Whether a PIN is needed.
    public var needsPIN: Bool
    /// What the PIN's proof is to be made with; from the host of a room with a PIN only.
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

/// How a guest asks to be let in: the body of `POST /room/guests`.
package struct Ask: Hashable, Sendable, Codable {
    var version = WireJSON.version
    /// Who the guest says it is.
    package var name: PeerName
    /// What it wants.
    package var purpose: Purpose?
    /// Where it may be reached, as far as it knows.
    var addresses: [String]
    /// Its port for signalling and media; 0 for a browser.
    package var port: UInt16
    /// Whether it is muted from the start.
    package var muted: Bool?
    /// What ``PINKey`` says.
    var pinProof: Base64?
    /// Instead of a key's fingerprint, for a browser's proof: 16 to 32 random bytes.
    var pinSeed: Base64?

    /// A request without a PIN's proof.
    package init(name: PeerName, purpose: Purpose? = nil, addresses: [IPAddress], port: UInt16, isMuted: Bool = false) {
        self.name = name
        self.purpose = purpose
        self.addresses = Member.bounded(addresses).map(\.description)
        self.port = port
        muted = isMuted
    }

    /// Where it may be reached.
    package var reachableAddresses: [IPAddress] {
        Member.bounded(addresses.prefix(Member.maximumAddressCount).compactMap(IPAddress.init(wire:)))
    }
}

/// What a guest gets that is let in: status 201 of `POST /room/guests`.
package struct Admission: Hashable, Sendable, Codable {
    var version = WireJSON.version
    /// The guest's number.
    package var member: MemberID
    /// What a browser shows instead of a certificate from now on: `Authorization: Bearer`.
    package var token: String?
    /// The host's proof that it knows the PIN, where the guest gave one.
    var hostProof: Base64?
    /// Who is in the room.
    package var roster: Roster
}

/// What a member says of itself: the body of `PATCH /room/members/me`. Nothing in it is a sign of life.
package struct MemberUpdate: Hashable, Sendable, Codable {
    /// Another name.
    package var name: PeerName?
    /// Whether it is muted.
    package var muted: Bool?
    /// Where it may be reached now.
    var addresses: [String]?

    /// What is nil stays as it is.
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
