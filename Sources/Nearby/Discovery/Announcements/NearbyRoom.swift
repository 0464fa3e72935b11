// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A room that is announced on the local network. All its properties are claims; the TLS handshake verifies the host.
public struct NearbyRoom: Hashable, Sendable, Identifiable {
    /// The identity of a room: two rooms of one name differ in their keys or ids.
    public struct ID: Hashable, Sendable {
        /// The id of the room.
        public var roomID: RoomID
        /// The fingerprint of the host's key.
        public var hostKey: KeyFingerprint
        /// The announced name, unchanged.
        var announcedName: String
    }

    /// The identity of the room.
    public var id: ID
    /// The display name, safe for a terminal; at most 63 bytes.
    public var name: String
    /// The host's machine, such as `alpha.local`, safe for a terminal.
    public var hostName: String
    /// The host's addresses on all interfaces, 1 to 16: IPv4, then IPv6, then link-local ones with their scope.
    public var endpoints: [SocketAddress]
    /// The room's announcement.
    public var announcement: RoomAnnouncement
    /// True if the room's host runs on this machine.
    public var isOnThisMachine: Bool
}
