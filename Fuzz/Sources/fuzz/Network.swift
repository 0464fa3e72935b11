// SPDX-License-Identifier: Apache-2.0

@testable import Announcements
@testable import EarshotMediaTransport
@testable import EarshotRooms

/// A TXT record must be the same after writing and reading, and so must the room in it. The same bytes make a name, which must
/// keep its limits.
func fuzzAnnouncement(_ input: UnsafeRawBufferPointer) -> CInt {
    let record = TXTRecord(parsing: input)
    precondition(TXTRecord(parsing: record.bytes) == record && record.bytes.count <= TXTRecord.maximumSize)
    if let room = RoomAnnouncement(record) {
        precondition(room.roomID.bytes.count == 16 && (0...999).contains(room.memberCount))
        precondition(RoomAnnouncement(TXTRecord(parsing: room.record.bytes)) == room)
    }
    let name = AnnouncedText.printable(String(decoding: input, as: UTF8.self))
    precondition(!name.isEmpty && name.utf8.count <= AnnouncedText.maximumSize)
    precondition(!name.utf8.contains { $0 < 0x20 || $0 == 0x7F } && AnnouncedText.printable(name) == name)
    return 0
}

/// Messages must be within the input, and a table must accept them all.
func fuzzNetlink(_ input: UnsafeRawBufferPointer) -> CInt {
    var isInterrupted = false
    let messages = NetlinkMessage.all(in: input.bytes, isInterrupted: &isInterrupted)
    precondition(messages.count <= input.count / 16)
    var table = NetworkTable()
    for message in messages { table.applyMessage(message) }
    let found = table.reachable(includingLoopback: true) { $0.isEmpty }
    precondition(found.count <= messages.count)
    for address in found {
        precondition(address.interface.index > 0 && address.interface.name.unicodeScalars.count <= 32)
        precondition((0...128).contains(address.prefixLength))
    }
    return 0
}

func announcementSeeds() -> [[UInt8]] {
    guard let key = KeyFingerprint(bytes: [UInt8](repeating: 0xA5, count: 32)),
        let id = RoomID(bytes: [UInt8](0..<16))
    else { return [] }
    let room = RoomAnnouncement(roomID: id, hostKey: key, needsPIN: true, memberCount: 3)
    return [room.record.bytes, Array("Küche \u{1B}[31m 👩‍👩‍👧".utf8)]
}

/// Returns two links, an IPv4 and an IPv6 address and the end, as x86 and Arm write them.
func netlinkSeeds() -> [[UInt8]] {
    func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [UInt8(16 + body.count), 0, 0, 0, type, 0, 2, 0] + [UInt8](repeating: 0, count: 8) + body
    }
    func link(_ index: UInt8, flags: UInt8, _ name: String) -> [UInt8] {
        [0, 0, 1, 0, index, 0, 0, 0, flags, 0, 0, 0, 0, 0, 0, 0, 9, 0, 3, 0] + Array(name.utf8) + [0, 0, 0, 0]
            + [20, 0, 18, 0, 14, 0, 1, 0] + Array("wireguard".utf8) + [0, 0, 0]
    }
    let v4: [UInt8] = [2, 24, 0, 0, 2, 0, 0, 0, 8, 0, 1, 0, 10, 0, 0, 7, 8, 0, 2, 0, 10, 0, 0, 8]
    let v6: [UInt8] = [10, 64, 0, 253, 2, 0, 0, 0, 20, 0, 1, 0, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]
    let flags: [UInt8] = [8, 0, 8, 0, 0x80, 0, 0, 0]
    return [
        message(16, link(1, flags: 0x49, "lo00")) + message(16, link(2, flags: 0x41, "eth0"))
            + message(20, v4 + flags) + message(20, v6 + flags) + message(3, [0, 0, 0, 0]),
        message(17, link(2, flags: 0, "eth0")) + message(21, v4) + message(2, [0xF3, 0xFF, 0xFF, 0xFF]),
    ]
}
