// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A room that somebody near announces. All of it is what the network says: who is there the TLS handshake proves.
public struct NearbyRoom: Hashable, Sendable, Identifiable {
    /// The identity of a room: two of one name have different keys, or different ids.
    public struct ID: Hashable, Sendable {
        /// The room's.
        public var roomID: RoomID
        /// The fingerprint of the host's key.
        public var hostKey: KeyFingerprint
        /// The announced name, byte by byte.
        var announcedName: String
    }

    /// Which it is.
    public var id: ID
    /// The name for a person, safe for a terminal; at most 63 bytes.
    public var name: String
    /// The host's machine, `alpha.local`, safe for a terminal.
    public var hostName: String
    /// The host's addresses, over all interfaces: IPv4, then IPv6, then link-local ones with their scope. At least one, at most 16.
    public var endpoints: [SocketAddress]
    /// The room's announcement.
    public var announcement: RoomAnnouncement
    /// True if its host runs on this machine.
    public var isOnThisMachine: Bool
}
