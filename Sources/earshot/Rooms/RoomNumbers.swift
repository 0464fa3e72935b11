// SPDX-License-Identifier: Apache-2.0

import EarshotNearby

/// The rooms with the numbers by which a user chooses them: in the order of arrival, never changed.
struct RoomNumbers {
    /// A change of a list.
    enum Change: Equatable {
        case came(Int, NearbyRoom)
        case went(Int, NearbyRoom)
        /// The room's host, members or PIN have changed.
        case changed(Int, NearbyRoom)
    }

    private(set) var rooms: [Int: NearbyRoom] = [:]
    private var numbers: [NearbyRoom.ID: Int] = [:]

    /// Updates the rooms. Returns the changes.
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

    /// Returns true if this number is also the beginning of another one.
    func isAmbiguous(_ number: Int) -> Bool { rooms.keys.contains { $0 != number && "\($0)".hasPrefix("\(number)") } }
}

extension NearbyRoom {
    /// One line after its number.
    var words: String {
        var parts = [name, "host \(hostName)"]
        if announcement.memberCount > 0 {
            parts.append("\(announcement.memberCount) participant\(announcement.memberCount == 1 ? "" : "s")")
        }
        if announcement.needsPIN { parts.append("PIN") }
        if !announcement.isOfKnownVersion { parts.append("another version of Earshot") }
        if isOnThisMachine { parts.append("on this machine") }
        return parts.joined(separator: ", ")
    }
}
