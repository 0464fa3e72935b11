// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Merges a browser's sightings: a room is seen once for each interface and each address family.
struct RoomSightings {
    /// A service on one interface, by IPv4 or IPv6.
    struct Place: Hashable {
        var interface: Int32
        var isV6: Bool
        /// The announced name.
        var name: String
        var domain: String
    }

    /// The resolved record of a service at one place.
    struct Sighting {
        var hostName: String
        var endpoint: SocketAddress
        var announcement: RoomAnnouncement
    }

    /// The maximum number of services: a machine that announces thousands does not exhaust memory.
    static let maximumPlaceCount = 512
    static let maximumEndpointCount = 16

    /// The followed services; true for those of this machine.
    private var places: [Place: Bool] = [:]
    private var sightings: [Place: Sighting] = [:]

    /// Starts following a service that is not resolved yet.
    /// - Returns: false if the service is followed already, or if too many are followed.
    mutating func add(_ place: Place, isOnThisMachine: Bool) -> Bool {
        guard places[place] == nil, places.count < Self.maximumPlaceCount else { return false }
        places[place] = isOnThisMachine
        return true
    }

    /// Updates a followed service. `sighting` is nil if the service's record is not a room's. A sighting with an unusable address
    /// is dropped.
    mutating func update(_ place: Place, _ sighting: Sighting?) {
        guard let isOnThisMachine = places[place] else { return }
        sightings[place] = sighting.flatMap { $0.endpoint.leadsSomewhere(isOnThisMachine) ? $0 : nil }
    }

    mutating func remove(_ place: Place) {
        places[place] = nil
        sightings[place] = nil
    }

    /// The rooms, by name.
    var rooms: [NearbyRoom] {
        var rooms: [NearbyRoom.ID: NearbyRoom] = [:]
        for (place, sighting) in sightings {
            let announced = sighting.announcement
            let id = NearbyRoom.ID(roomID: announced.roomID, hostKey: announced.hostKey, announcedName: place.name)
            var room =
                rooms[id]
                ?? NearbyRoom(
                    id: id, name: AnnouncedText.printable(place.name), hostName: sighting.hostName, endpoints: [],
                    announcement: announced, isOnThisMachine: false)
            // The newer announcement is not known: choose the same one in either order.
            if announced.precedes(room.announcement) { room.announcement = announced }
            room.hostName = min(room.hostName, sighting.hostName)
            room.isOnThisMachine = room.isOnThisMachine || places[place] == true
            room.endpoints.append(sighting.endpoint)
            rooms[id] = room
        }
        return rooms.values.map { room in
            var room = room
            room.hostName = AnnouncedText.printable(room.hostName)
            room.endpoints = Array(Set(room.endpoints).sorted { $0.precedes($1) }.prefix(Self.maximumEndpointCount))
            return room
        }.sorted { $0.precedes($1) }
    }
}

extension RoomAnnouncement {
    /// Returns true if this announcement is preferred to the other one: it has more members, or as many and a higher version, a PIN
    /// or a later song in the alphabet.
    fileprivate func precedes(_ other: RoomAnnouncement) -> Bool {
        (memberCount, version, needsPIN ? 1 : 0, song ?? "")
            > (other.memberCount, other.version, other.needsPIN ? 1 : 0, other.song ?? "")
    }
}

extension NearbyRoom {
    fileprivate func precedes(_ other: NearbyRoom) -> Bool {
        if name != other.name { return name < other.name }
        if id.hostKey != other.id.hostKey { return id.hostKey.hex < other.id.hostKey.hex }
        if id.roomID != other.id.roomID { return id.roomID.description < other.id.roomID.description }
        return id.announcedName.utf8.lexicographicallyPrecedes(other.id.announcedName.utf8)
    }
}

extension SocketAddress {
    /// Returns true if the address is usable: not port 0, unspecified, multicast or another machine's loopback.
    fileprivate func leadsSomewhere(_ isOnThisMachine: Bool) -> Bool {
        let isMulticast =
            switch address {
            case .v4(let bits): bits >> 28 >= 14
            case .v6(let bits, _): bits >> 120 == 0xFF
            }
        return port > 0 && !address.isUnspecified && !isMulticast && (isOnThisMachine || !address.isLoopback)
    }

    fileprivate func precedes(_ other: SocketAddress) -> Bool {
        func rank(_ a: SocketAddress) -> (Int, UInt128, UInt32, UInt16) {
            switch a.address {
            case .v4(let bits): (a.address.isLinkLocal ? 2 : 0, UInt128(bits), 0, a.port)
            case .v6(let bits, let scope): (a.address.isLinkLocal ? 3 : 1, bits, scope, a.port)
            }
        }
        return rank(self) < rank(other)
    }
}
