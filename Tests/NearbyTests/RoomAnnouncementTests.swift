// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import TestSupport
import Testing

@testable import EarshotNearby

@Suite struct RoomAnnouncementTests {
    @Test func `a room announcement is decoded as it was encoded`() throws {
        var announcement = announcement(1, needsPIN: true, members: 3)
        let record = announcement.record
        #expect(
            String(decoding: record.bytes, as: UTF8.self)
                == "\u{3}v=1\u{1D}id=" + announcement.roomID.description + "\u{44}key=" + announcement.hostKey.hex
                + "\u{5}pin=1\u{3}n=3")
        #expect(RoomAnnouncement(TXTRecord(parsing: record.bytes)) == announcement)
        announcement.memberCount = 5_000
        #expect(RoomAnnouncement(announcement.record)?.memberCount == 999)
    }

    @Test func `the song of a room is announced in one line of at most 160 bytes`() throws {
        var announcement = announcement(1)
        #expect(RoomAnnouncement(announcement.record)?.song == nil)
        announcement = RoomAnnouncement(roomID: announcement.roomID, hostKey: announcement.hostKey, song: "Blue Moon")
        #expect(String(decoding: announcement.record.bytes, as: UTF8.self).hasSuffix("\u{3}n=1\u{E}song=Blue Moon"))
        #expect(RoomAnnouncement(announcement.record) == announcement)
        announcement.freePart = 2
        #expect(RoomAnnouncement(announcement.record) == announcement)
        for part in ["0", "3", "x", ""] {
            var record = announcement.record
            record["part"] = part
            #expect(RoomAnnouncement(record)?.freePart == nil)
        }
        announcement.freePart = nil
        var record = announcement.record
        record["song"] = String(repeating: "é", count: 100) + "\u{1B}"
        #expect(RoomAnnouncement(record)?.song == String(repeating: "é", count: 80))
        record["song"] = "a\nb"
        #expect(RoomAnnouncement(record)?.song == "a\u{FFFD}b")
    }

    @Test func `an announcement of a later version is decoded, and marked as of an unknown version`() throws {
        var record = announcement(1).record
        record["v"] = "2"
        record["shoes"] = "brown"
        let read = try #require(RoomAnnouncement(record))
        #expect(read.version == 2 && !read.isOfKnownVersion && announcement(1).isOfKnownVersion)
    }

    @Test(arguments: [
        ("v", nil), ("v", ""), ("v", "+1"), ("v", "1000"), ("v", "one"), ("id", nil), ("id", "aaaa"),
        ("id", String(repeating: "a", count: 27)), ("id", String(repeating: "U", count: 26)), ("key", nil),
        ("key", "00"), ("key", String(repeating: "x", count: 64)),
    ])
    func `a record without a valid version, id or key is not a room`(key: String, value: String?) {
        var record = announcement(1).record
        record[key] = value
        #expect(RoomAnnouncement(record) == nil)
    }

    @Test(arguments: [("pin", nil), ("pin", "yes"), ("n", nil), ("n", "-3"), ("n", "many")])
    func `fields that are only displayed may be missing`(key: String, value: String?) throws {
        var record = announcement(1).record
        record[key] = value
        let read = try #require(RoomAnnouncement(record))
        #expect(!read.needsPIN && (key != "n" || read.memberCount == 0))
    }

    @Test func `a room ID has 26 characters and is decoded regardless of case`() throws {
        let id = try #require(RoomID(bytes: (0..<16).map { UInt8($0) }))
        #expect(id.description == "000G40R40M30E209185GR38E1W")
        #expect(RoomID(id.description.lowercased()) == id && RoomID("OOOG4OR4OM3OE2O9I85GR38ELW") == id)
        let largest = try #require(RoomID(bytes: [UInt8](repeating: 255, count: 16)))
        #expect(largest.description == String(repeating: "Z", count: 25) + "W")
        #expect(RoomID(largest.description) == largest)
        for text in ["", "000G40R40M30E209185GR38E1", "000G40R40M30E209185GR38E1X", "U00G40R40M30E209185GR38E1W", "é"] {
            #expect(RoomID(text) == nil)
        }
        #expect(RoomID(bytes: []) == nil)
    }
}

@Suite struct TXTRecordTests {
    private func record(_ strings: [[UInt8]]) -> TXTRecord {
        TXTRecord(parsing: strings.flatMap { [UInt8($0.count)] + $0 })
    }

    @Test func `the first of several equal keys counts, regardless of case, and a key may have no value`() {
        let record = record(["A=1", "a=2", "=x", "b", "c=", "d=é=f"].map { Array($0.utf8) } + [[0x80, 0x3D]])
        #expect(record["a"] == "1" && record["b"] == nil && record["c"] == "" && record["d"] == "é=f")
        #expect(record.bytes == Array("\u{3}a=1\u{1}b\u{2}c=\u{6}d=é=f".utf8))
    }

    @Test func `a value that is not valid text is ignored`() {
        #expect(record([[0x61, 0x3D, 0xFF]])["a"] == nil)
    }

    @Test func `a record's size and number of entries are limited`() {
        let many = (0..<1_000).map { Array("k\($0)=v".utf8) }
        #expect(record(many)["k31"] == "v" && record(many)["k32"] == nil)
        let large = (0..<8).map { Array("k\($0)=".utf8) + [UInt8](repeating: 0x61, count: 250) }
        #expect(record(large)["k4"] != nil && record(large)["k6"] == nil)
        #expect(record(large).bytes.count <= TXTRecord.maximumSize)
    }

    @Test func `an empty record is encoded as one empty string`() {
        #expect(
            TXTRecord().bytes == [0] && TXTRecord(parsing: [0]) == TXTRecord() && TXTRecord(parsing: []) == TXTRecord())
    }

    @Test func `arbitrary bytes decode to a record that survives encoding and decoding`() {
        var random = SeededRandom(seed: 9)
        var rooms = 0
        for _ in 0..<20_000 {
            let bytes = random.damaged(
                announcement(1).record.bytes, pieces: ["v=1", "=", "\u{3}n=2", "\u{6}song=\u{9B}", "\u{FF}"])
            let record = TXTRecord(parsing: bytes)
            #expect(TXTRecord(parsing: record.bytes) == record)
            if let room = RoomAnnouncement(record) {
                rooms += 1
                #expect(RoomAnnouncement(room.record) == room)
            }
        }
        #expect(rooms > 1_000)
    }
}

@Suite struct AnnouncedTextTests {
    @Test(arguments: [
        ("Song", "Song"), ("Кухня 👩‍👩‍👧", "Кухня 👩‍👩‍👧"), ("a\u{1B}[31mb\r\n", "a\u{FFFD}[31mb\u{FFFD}\u{FFFD}"),
        ("\u{202E}gnos", "\u{FFFD}gnos"), ("\u{9B}2J", "\u{FFFD}2J"), ("a\u{2028}b", "a\u{FFFD}b"), ("", "\u{FFFD}"),
        (" \u{3000}", "\u{FFFD}"), ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("\u{E000}", "\u{FFFD}"),
    ])
    func `control characters in names are replaced for the terminal`(text: String, printed: String) {
        // By scalars: as characters a carriage return and a line feed are one.
        #expect(Array(AnnouncedText.printable(text).unicodeScalars) == Array(printed.unicodeScalars))
    }

    @Test func `a long name is cut at a character boundary`() {
        let long = AnnouncedText.printable(String(repeating: "é", count: 1_000))
        #expect(long == String(repeating: "é", count: 31))
    }
}

/// A room by number.
func announcement(_ number: UInt8, key: UInt8? = nil, needsPIN: Bool = false, members: Int = 1) -> RoomAnnouncement {
    guard let hostKey = KeyFingerprint(bytes: [UInt8](repeating: key ?? number, count: 32)),
        let roomID = RoomID(bytes: [UInt8](repeating: number, count: 16))
    else { fatalError() }
    return RoomAnnouncement(
        roomID: roomID, hostKey: hostKey, needsPIN: needsPIN, memberCount: members)
}
