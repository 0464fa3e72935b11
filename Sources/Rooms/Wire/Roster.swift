// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The participants of a room, in the order of joining, and its host. The host changes the roster; all other members have copies.
public struct Roster: Hashable, Sendable {
    /// The maximum native members.
    public static let maximumNativeCount = 8
    /// The maximum members, including browsers.
    package static let maximumCount = 24

    /// The room's identity.
    public let room: RoomID
    /// The room's name.
    public internal(set) var name: PeerName
    /// The room's epoch: 1 at first, and one more after each handover to another host.
    package internal(set) var epoch: Epoch
    /// The revision of the roster, which each change increments.
    package internal(set) var revision: UInt64
    /// The number of the host, a native member.
    public internal(set) var host: MemberID
    /// True if the room is announced on the network; a new host keeps this setting.
    public let isAnnounced: Bool
    /// The members in the order of their numbers; at least the host.
    public internal(set) var members: [Member]

    init(
        room: RoomID, name: PeerName, epoch: Epoch, revision: UInt64, host: MemberID, isAnnounced: Bool = true,
        members: [Member]
    ) {
        self.room = room
        self.name = name
        self.epoch = epoch
        self.revision = revision
        self.host = host
        self.isAnnounced = isAnnounced
        self.members = members
    }

    /// Returns the member of a number; nil if there is none.
    public subscript(id: MemberID) -> Member? { index(of: id).map { members[$0] } }

    /// Returns the native member with a key; nil if there is none.
    package func member(with key: KeyFingerprint) -> Member? { members.first { $0.key == key } }

    /// The host's successors in order: the native members in the order of joining.
    package var successors: [Member] { members.filter { $0.isNative && $0.id != host } }

    /// Returns the member who offers media first: of two, the one who joined later.
    package static func offerer(between a: MemberID, and b: MemberID) -> MemberID { max(a, b) }

    /// The host's key, which every valid roster has.
    public var hostKey: KeyFingerprint? { self[host]?.key }

    var nativeCount: Int { members.count(where: \.isNative) }

    func index(of id: MemberID) -> Int? { members.firstIndex { $0.id == id } }

    /// True if the roster is valid: numbers ascend, keys differ, the host is a native member, and no limit is exceeded.
    private var isSound: Bool {
        let ids = members.map(\.id)
        let keys = members.compactMap(\.key)
        return zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 } && Set(keys).count == keys.count && hostKey != nil
            && keys.count <= Self.maximumNativeCount && ids.count <= Self.maximumCount
    }
}

extension Roster: Codable {
    private enum CodingKeys: String, CodingKey {
        case room, name, epoch, revision, host, members
        case isAnnounced = "announced"
    }

    /// Decodes and validates an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            room: try container.decode(RoomID.self, forKey: .room),
            name: try container.decode(PeerName.self, forKey: .name),
            epoch: try container.decode(Epoch.self, forKey: .epoch),
            revision: try container.decode(WireNumber.self, forKey: .revision).value,
            host: try container.decode(MemberID.self, forKey: .host),
            isAnnounced: try container.decode(Bool.self, forKey: .isAnnounced),
            members: try container.decode([Member].self, forKey: .members))
        guard isSound else {
            throw DecodingError.dataCorruptedError(
                forKey: .members, in: container, debugDescription: "no room's members: order, keys, number or host")
        }
    }
}

/// A difference between two rosters, for the user.
public enum RosterChange: Hashable, Sendable {
    /// A member joined.
    case joined(Member)
    /// A member left.
    case left(Member)
    /// A member changed its name.
    case renamed(Member, was: PeerName)
    /// A member was muted (true) or unmuted.
    case muted(Member, Bool)
    /// A member began (true) or ended a recording of the room's sound.
    case recording(Member, Bool)
    /// A member allows recordings of its voice (true), or does not: it declined, or returned without an answer.
    case recordingConsent(Member, Bool)
    /// A member became silent (true), or was heard again.
    case away(Member, Bool)
    /// A member changed its addresses.
    case moved(Member)
    /// This member is the host now.
    case host(Member)
}

extension Roster {
    /// Returns the changes since the roster `old`: members that left, then the others in their order, then a new host.
    package func changes(since old: Roster) -> [RosterChange] {
        var changes: [RosterChange] = old.members.filter { self[$0.id] == nil }.map { .left($0) }
        for member in members {
            guard let before = old[member.id] else {
                changes.append(.joined(member))
                continue
            }
            if member.name != before.name { changes.append(.renamed(member, was: before.name)) }
            if member.isMuted != before.isMuted { changes.append(.muted(member, member.isMuted)) }
            if member.isRecording != before.isRecording { changes.append(.recording(member, member.isRecording)) }
            if member.allowsRecording != before.allowsRecording {
                changes.append(.recordingConsent(member, member.allowsRecording ?? false))
            }
            if member.isAway != before.isAway { changes.append(.away(member, member.isAway)) }
            if (member.addresses, member.port) != (before.addresses, before.port) { changes.append(.moved(member)) }
        }
        if host != old.host, let member = self[host] { changes.append(.host(member)) }
        return changes
    }
}
