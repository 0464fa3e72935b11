// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A participant of a room, as the roster describes it.
public struct Member: Hashable, Sendable {
    /// The maximum addresses of a member.
    package static let maximumAddressCount = 16

    /// The member's number, which never changes; numbers ascend in the order of joining.
    public let id: MemberID
    /// The name, unique in the room.
    public internal(set) var name: PeerName
    /// The verified key; nil for a browser, which is never the host.
    public let key: KeyFingerprint?
    /// The member's addresses, as declared by the member and as seen by the host; without scopes.
    public internal(set) var addresses: [IPAddress]
    /// The port of TCP for signalling and UDP for media; 0 for a browser.
    public internal(set) var port: UInt16
    /// True if the participant is muted.
    public internal(set) var isMuted: Bool
    /// True if the participant records the room's sound.
    public internal(set) var isRecording: Bool
    /// True if others may record the participant's voice, false if not; nil if the participant has not answered, or runs an
    /// older version. Only true permits a recording. The host states this value; nothing proves it.
    public internal(set) var allowsRecording: Bool?
    /// True if the host has not heard from the member for five seconds, or has taken over from it. The member's place is kept for
    /// a minute.
    public internal(set) var isAway: Bool

    /// Creates a member.
    /// - Parameter addresses: at most ``maximumAddressCount`` are kept.
    package init(
        id: MemberID, name: PeerName, key: KeyFingerprint?, addresses: [IPAddress], port: UInt16, isMuted: Bool = false,
        isRecording: Bool = false, allowsRecording: Bool? = nil, isAway: Bool = false
    ) {
        self.id = id
        self.name = name
        self.key = key
        self.addresses = Self.bounded(addresses)
        self.port = port
        self.isMuted = isMuted
        self.isRecording = isRecording
        self.allowsRecording = allowsRecording
        self.isAway = isAway
    }

    /// True if the member runs Earshot and may become the host; false for a browser.
    public var isNative: Bool { key != nil }

    /// Returns the first ``maximumAddressCount`` addresses without scopes, duplicates and unspecified addresses.
    static func bounded(_ addresses: [IPAddress]) -> [IPAddress] {
        var kept: [IPAddress] = []
        for address in addresses.map(\.withoutScope)
        where !kept.contains(address) && !address.isUnspecified && kept.count < maximumAddressCount {
            kept.append(address)
        }
        return kept
    }
}

extension IPAddress {
    /// The address without a scope, which has no meaning on another machine.
    var withoutScope: IPAddress {
        if case .v6(let bits, _) = self { .v6(bits, scope: 0) } else { self }
    }

    /// Reads a numeric address without a scope, so that no interface is looked up; nil for any other text.
    init?(wire text: String) {
        guard text.utf8.count <= 45, !text.contains("%") else { return nil }
        self.init(text)
    }
}

extension Member: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, key, addresses, port, allowsRecording
        case isMuted = "muted"
        case isRecording = "recording"
        case isAway = "away"
    }

    /// Decodes an object; skips addresses that cannot be parsed. The fields of recording are optional, because older
    /// versions omit them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(MemberID.self, forKey: .id),
            name: try container.decode(PeerName.self, forKey: .name),
            key: try container.decodeIfPresent(KeyFingerprint.self, forKey: .key),
            addresses: try container.decode([String].self, forKey: .addresses).compactMap(IPAddress.init(wire:)),
            port: try container.decode(UInt16.self, forKey: .port),
            isMuted: try container.decode(Bool.self, forKey: .isMuted),
            isRecording: try container.decodeIfPresent(Bool.self, forKey: .isRecording) ?? false,
            allowsRecording: try container.decodeIfPresent(Bool.self, forKey: .allowsRecording),
            isAway: try container.decode(Bool.self, forKey: .isAway))
    }

    /// Encodes an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(key, forKey: .key)
        try container.encode(addresses.map { $0.withoutScope.description }, forKey: .addresses)
        try container.encode(port, forKey: .port)
        try container.encode(isMuted, forKey: .isMuted)
        if isRecording { try container.encode(true, forKey: .isRecording) }
        try container.encodeIfPresent(allowsRecording, forKey: .allowsRecording)
        try container.encode(isAway, forKey: .isAway)
    }
}
