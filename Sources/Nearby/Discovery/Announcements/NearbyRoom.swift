// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A room that somebody near announces. All of it is what the network says: who is there the TLS handshake proves.
public struct NearbyRoom: Hashable, Sendable, Identifiable {
    /// What tells rooms apart: two of one name have different keys, or different ids.
    public struct ID: Hashable, Sendable {
        /// The room's.
        public var roomID: RoomID
        /// Of the key that admits to it.
        public var hostKey: KeyFingerprint
        /// As it was announced, byte by byte.
        var announcedName: String
    }

    /// Which it is.
    public var id: ID
    /// As a person reads it, safe for a terminal; at most 63 bytes.
    public var name: String
    /// The host's machine, `alpha.local`, safe for a terminal.
    public var hostName: String
    /// Where the host may be reached, over all interfaces: IPv4, then IPv6, then what holds on one link, with its scope. At least
    /// one, at most 16.
    public var endpoints: [SocketAddress]
    /// What the room tells of itself.
    public var announcement: RoomAnnouncement
    /// Whether its host runs on this machine.
    public var isOnThisMachine: Bool
}
