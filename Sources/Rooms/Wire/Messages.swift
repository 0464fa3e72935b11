// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The public description of a room: the answer to `GET /room`. The keys in it are claims; only a TLS handshake verifies a key.
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
    /// The room's epoch: 1 at first, and one more after each handover to another host.
    package var epoch: Epoch
    /// The answering peer's role.
    public var role: Role
    /// The name of the host.
    public var hostName: PeerName
    /// The key of the host.
    public var hostKey: KeyFingerprint
    /// True if a guest hears its host now; always true for a host.
    package var isHostHeard: Bool
    /// The number of participants.
    public var memberCount: Int
    /// The maximum native members. A guest does not know the host's limit and states the greatest possible one.
    public var capacity: Int
    /// True if a PIN is needed.
    public var needsPIN: Bool
    /// The nonce for the PIN's proof; only from the host of a room with a PIN.
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
    /// The guest's addresses as far as it knows.
    var addresses: [String]
    /// The port of signalling and media; 0 for a browser.
    package var port: UInt16
    /// True if the guest is muted from the start.
    package var muted: Bool?
    /// True if the guest records from the start; nil if not.
    package var recording: Bool?
    /// True if others may record the guest's voice, false if not; nil if the guest has not answered.
    package var allowsRecording: Bool?
    /// The guest's proof of the PIN, made by ``PINKey``; nil without a PIN.
    var pinProof: Base64?
    /// 16 to 32 random bytes, which take the place of the key's fingerprint in a browser's proof of the PIN.
    var pinSeed: Base64?
    /// True if the guest's key is temporary, so that it need not be remembered.
    var ephemeral: Bool?

    /// Creates a request without a PIN's proof.
    package init(
        name: PeerName, purpose: Purpose? = nil, addresses: [IPAddress], port: UInt16, isMuted: Bool = false,
        isRecording: Bool = false, allowsRecording: Bool? = nil, isEphemeral: Bool = false
    ) {
        self.name = name
        self.purpose = purpose
        self.addresses = Member.bounded(addresses).map(\.description)
        self.port = port
        muted = isMuted
        recording = isRecording ? true : nil
        self.allowsRecording = allowsRecording
        ephemeral = isEphemeral ? true : nil
    }

    /// The valid addresses of the guest.
    package var reachableAddresses: [IPAddress] {
        Member.bounded(addresses.prefix(Member.maximumAddressCount).compactMap(IPAddress.init(wire:)))
    }
}

/// The admission of a guest: status 201 of `POST /room/guests`.
package struct Admission: Hashable, Sendable, Codable {
    var version = WireJSON.version
    /// The guest's number as a member.
    package var member: MemberID
    /// A browser's token, which replaces a certificate in its requests: `Authorization: Bearer`.
    package var token: String?
    /// The host's proof that it knows the PIN, if the guest gave one.
    var hostProof: Base64?
    /// The room's roster.
    package var roster: Roster
}

/// A member's update of itself: the body of `PATCH /room/members/me`. Without changes it is a sign of life.
package struct MemberUpdate: Hashable, Sendable, Codable {
    /// The member's new name; nil for no change.
    package var name: PeerName?
    /// True if the member is muted; nil for no change.
    package var muted: Bool?
    /// True if the member records; nil for no change.
    package var recording: Bool?
    /// True if others may record the member's voice, false if not; nil for no change.
    package var allowsRecording: Bool?
    /// The member's current addresses; nil for no change.
    var addresses: [String]?

    /// Creates an update; nil changes nothing.
    package init(
        name: PeerName? = nil, isMuted: Bool? = nil, isRecording: Bool? = nil, allowsRecording: Bool? = nil,
        addresses: [IPAddress]? = nil
    ) {
        self.name = name
        muted = isMuted
        recording = isRecording
        self.allowsRecording = allowsRecording
        self.addresses = addresses.map { Member.bounded($0).map(\.description) }
    }

    var reachableAddresses: [IPAddress]? {
        addresses.map { Member.bounded($0.prefix(Member.maximumAddressCount).compactMap(IPAddress.init(wire:))) }
    }

    /// Returns this update combined with a later one.
    func followed(by later: MemberUpdate) -> MemberUpdate {
        MemberUpdate(
            name: later.name ?? name, isMuted: later.muted ?? muted, isRecording: later.recording ?? recording,
            allowsRecording: later.allowsRecording ?? allowsRecording,
            addresses: later.reachableAddresses ?? reachableAddresses)
    }
}

/// The answer to a ``MemberUpdate``: the roster's current revision, by which a member notices lost events.
package struct MemberStatus: Hashable, Sendable, Codable {
    /// The epoch of the roster.
    package var epoch: Epoch
    /// The revision of the roster.
    package var revision: UInt64

    init(epoch: Epoch, revision: UInt64) {
        self.epoch = epoch
        self.revision = revision
    }

    /// Decodes an object.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        epoch = try container.decode(Epoch.self, forKey: .epoch)
        revision = try container.decode(WireNumber.self, forKey: .revision).value
    }
}
