// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import Foundation

/// The visible rooms, as a table or as JSON.
struct RoomListing {
    let rooms: [NearbyRoom]

    private struct Room: Encodable {
        var name: String
        var host: String
        var members: Int
        var pin: Bool
        var key: String
        var room: String
        var version: Int
        var addresses: [String]
        var isOnThisMachine: Bool
        var song: String?
        /// The part of the song that nobody sings, 1 or 2.
        var freePart: Int?
    }

    /// Returns one JSON document.
    func document() throws -> String {
        let list = rooms.map {
            Room(
                name: $0.name, host: $0.hostName, members: $0.announcement.memberCount, pin: $0.announcement.needsPIN,
                key: $0.id.hostKey.hex, room: $0.id.roomID.description, version: $0.announcement.version,
                addresses: $0.endpoints.map(\.description), isOnThisMachine: $0.isOnThisMachine,
                song: $0.announcement.song, freePart: $0.announcement.freePart)
        }
        return try ["rooms": list].json()
    }

    /// Returns a table.
    func table(hasColour: Bool) -> String {
        let rows = rooms.map { room in
            [
                room.name, room.hostName, "\(room.announcement.memberCount)", room.announcement.needsPIN ? "yes" : "no",
                room.endpoints.first?.description ?? "", room.id.hostKey.description,
                room.announcement.songAndPart ?? "",
            ]
        }
        return TextTable(["NAME", "HOST", "PARTICIPANTS", "PIN", "ADDRESS", "KEY", "SONG"], rows).text(
            hasColour: hasColour)
    }
}

/// A table of text with columns as wide as necessary.
struct TextTable {
    private let columnTitles: [String]
    private let rows: [[String]]

    init(_ columnTitles: [String], _ rows: [[String]]) {
        self.columnTitles = columnTitles
        self.rows = rows.map { $0.map(TerminalText.sanitized) }
    }

    func text(hasColour: Bool) -> String {
        let widths = columnTitles.indices.map { column in
            (rows.map { $0[column].count } + [columnTitles[column].count]).max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var line = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        let head = hasColour ? "\u{1B}[2m\(line(columnTitles))\u{1B}[0m" : line(columnTitles)
        return ([head] + rows.map(line)).joined(separator: "\n") + "\n"
    }
}
