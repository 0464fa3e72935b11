// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The participants of a room, in the order of joining, and its host. The host makes it, all others copy it.
public struct Roster: Hashable, Sendable {
    /// Native members at most.
    public static let maximumNativeCount = 8
    /// Members at most, browsers among them.
    package static let maximumCount = 24

    /// The room's identity.
    public let room: RoomID
    /// The room's name.
    public internal(set) var name: PeerName
    /// Handovers of the room to another host.
    package internal(set) var epoch: Epoch
    /// Counts the host's changes.
    package internal(set) var revision: UInt64
    /// The host: a native member.
    public internal(set) var host: MemberID
    /// True if the room is announced to everybody near; a host that takes over keeps to it.
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

    /// The member of that number.
    public subscript(id: MemberID) -> Member? { index(of: id).map { members[$0] } }

    /// The native member with that key.
    package func member(with key: KeyFingerprint) -> Member? { members.first { $0.key == key } }

    /// The host's successors, first choice first: the native members in the order of joining.
    package var successors: [Member] { members.filter { $0.isNative && $0.id != host } }

    /// Returns the member who offers media between two: the one who joined later.
    package static func offerer(between a: MemberID, and b: MemberID) -> MemberID { max(a, b) }

    /// The host's key; every roster has it.
    public var hostKey: KeyFingerprint? { self[host]?.key }

    var nativeCount: Int { members.count(where: \.isNative) }

    func index(of id: MemberID) -> Int? { members.firstIndex { $0.id == id } }

    /// Returns true if it is one that a host may have made.
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

    /// From an object, checked.
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

/// A difference between two rosters of a room, for the person.
public enum RosterChange: Hashable, Sendable {
    /// Somebody is in the room that was not.
    case joined(Member)
    /// Somebody is no longer in it.
    case left(Member)
    /// A member goes by another name.
    case renamed(Member, was: PeerName)
    /// A member sends silence on purpose, or does so no longer.
    case muted(Member, Bool)
    /// A member is silent, or was, and is heard of again.
    case away(Member, Bool)
    /// A member is elsewhere on the network.
    case moved(Member)
    /// Another admits.
    case host(Member)
}

extension Roster {
    /// Returns the changes since `old`, in the members' order.
    package func changes(since old: Roster) -> [RosterChange] {
        var changes: [RosterChange] = old.members.filter { self[$0.id] == nil }.map { .left($0) }
        for member in members {
            guard let before = old[member.id] else {
                changes.append(.joined(member))
                continue
            }
            if member.name != before.name { changes.append(.renamed(member, was: before.name)) }
            if member.isMuted != before.isMuted { changes.append(.muted(member, member.isMuted)) }
            if member.isAway != before.isAway { changes.append(.away(member, member.isAway)) }
            if (member.addresses, member.port) != (before.addresses, before.port) { changes.append(.moved(member)) }
        }
        if host != old.host, let member = self[host] { changes.append(.host(member)) }
        return changes
    }
}
