// SPDX-License-Identifier: Apache-2.0

import EarshotNearby

/// The visible rooms with the numbers by which a user chooses them. Rooms are numbered as they appear, and keep their numbers.
struct RoomNumbers {
    /// A change of the list of visible rooms.
    enum Change: Equatable {
        case came(Int, NearbyRoom)
        case went(Int, NearbyRoom)
        /// The host's name or the room's announcement (such as the number of members) has changed.
        case changed(Int, NearbyRoom)
    }

    private(set) var rooms: [Int: NearbyRoom] = [:]
    private var numbers: [NearbyRoom.ID: Int] = [:]

    /// Replaces the visible rooms by `seen`. Returns the changes.
    mutating func take(_ seen: [NearbyRoom]) -> [Change] {
        var changes: [Change] = []
        for (number, room) in rooms.sorted(by: { $0.key < $1.key }) where !seen.contains(where: { $0.id == room.id }) {
            rooms[number] = nil
            changes.append(.went(number, room))
        }
        for room in seen {
            let number = numbers[room.id] ?? numbers.count + 1
            numbers[room.id] = number
            let old = rooms.updateValue(room, forKey: number)
            if old == nil {
                changes.append(.came(number, room))
            } else if let old, old.announcement != room.announcement || old.hostName != room.hostName {
                changes.append(.changed(number, room))
            }
        }
        return changes
    }

    /// Returns true if the number is also the beginning of another visible room's number.
    func isAmbiguous(_ number: Int) -> Bool { rooms.keys.contains { $0 != number && "\($0)".hasPrefix("\(number)") } }
}

extension NearbyRoom {
    /// The room in one line of text, to print after its number.
    var summary: String {
        var parts = [name] + (announcement.songAndPart.map { ["sings \($0)"] } ?? []) + ["host \(hostName)"]
        if announcement.memberCount > 0 {
            parts.append("\(announcement.memberCount) participant\(announcement.memberCount == 1 ? "" : "s")")
        }
        if announcement.needsPIN { parts.append("PIN") }
        if !announcement.isOfKnownVersion { parts.append("another version of Earshot") }
        if isOnThisMachine { parts.append("on this machine") }
        return parts.joined(separator: ", ")
    }
}
