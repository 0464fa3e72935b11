// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// The announcement of a room: the TXT record of its DNS-SD service. The announcement is only a claim; the TLS handshake verifies
/// the host.
public struct RoomAnnouncement: Hashable, Sendable {
    /// The DNS-SD service type.
    package static let serviceType = "_earshot._udp"
    /// The version of the signalling in this program.
    package static let currentVersion = 1

    /// The version of the signalling (`v`).
    package var version = currentVersion
    /// The id of the room (`id`).
    public var roomID: RoomID
    /// The fingerprint of the host's key (`key`).
    public var hostKey: KeyFingerprint
    /// True if guests need a PIN (`pin`).
    public var needsPIN: Bool
    /// The number of participants, including the host; 0 to 999 (`n`).
    public var memberCount: Int
    /// The title of the song that the room sings, safe for a terminal (`song`); nil without one.
    package var song: String?
    /// The part of the song that nobody sings, 1 or 2 (`part`); nil if there is none.
    package var freePart: Int?

    /// The bytes of the longest title. A pair of the record has at most 255.
    private static let longestSong = 160

    /// Creates an announcement of this program's version.
    /// - Parameter song: is made printable, and shortened to 160 bytes.
    package init(
        roomID: RoomID, hostKey: KeyFingerprint, needsPIN: Bool = false, memberCount: Int = 1, song: String? = nil,
        freePart: Int? = nil
    ) {
        self.roomID = roomID
        self.hostKey = hostKey
        self.needsPIN = needsPIN
        self.memberCount = memberCount
        self.freePart = song == nil ? nil : freePart
        self.song = song.map { AnnouncedText.printable($0, limit: Self.longestSong) }
    }

    /// True if this program can join the room.
    package var isOfKnownVersion: Bool { version == Self.currentVersion }

    /// Reads an announcement; nil if the version, the id or the key is missing or invalid. Unknown keys are ignored.
    package init?(_ record: TXTRecord) {
        guard let version = record["v"].flatMap({ Int(digits: $0, upTo: 999) }),
            let roomID = record["id"].flatMap({ RoomID($0) }),
            let hostKey = record["key"].flatMap({ KeyFingerprint(hex: $0) })
        else { return nil }
        self.version = version
        self.roomID = roomID
        self.hostKey = hostKey
        needsPIN = record["pin"] == "1"
        memberCount = record["n"].flatMap { Int(digits: $0, upTo: 999) } ?? 0
        song = record["song"].map { AnnouncedText.printable($0, limit: Self.longestSong) }
        freePart = song == nil ? nil : record["part"].flatMap { Int(digits: $0, upTo: 2) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The TXT record.
    package var record: TXTRecord {
        var record = TXTRecord()
        record["v"] = String(version)
        record["id"] = roomID.description
        record["key"] = hostKey.hex
        record["pin"] = needsPIN ? "1" : "0"
        record["n"] = String(max(0, min(999, memberCount)))
        record["song"] = song
        record["part"] = freePart.map(String.init)
        return record
    }
}

extension Int {
    /// Reads a decimal number without a sign; nil if the text is none, or if the number exceeds `limit`.
    fileprivate init?(digits: String, upTo limit: Int) {
        guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let value = Int(digits), value <= limit
        else { return nil }
        self = value
    }
}
