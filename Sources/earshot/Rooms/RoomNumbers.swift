// SPDX-License-Identifier: Apache-2.0

import EarshotNearby

/// Rooms with the numbers under which a person picks them: in the order of their coming, each keeps its own.
struct RoomNumbers {
    /// A change of a list.
    enum Change: Equatable {
        case came(Int, NearbyRoom)
        case went(Int, NearbyRoom)
        /// Its host, members or PIN are others.
        case changed(Int, NearbyRoom)
    }

    private(set) var rooms: [Int: NearbyRoom] = [:]
    private var numbers: [NearbyRoom.ID: Int] = [:]

    /// Takes what is seen now.
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

    /// Returns true if more digits could follow those that make this number.
    func isAmbiguous(_ number: Int) -> Bool { rooms.keys.contains { $0 != number && "\($0)".hasPrefix("\(number)") } }
}

extension NearbyRoom {
    /// One line behind its number.
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
