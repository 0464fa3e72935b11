// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A member's message, which may be lost or reordered.
public struct NearbyDatagram: Hashable, Sendable {
    /// The maximum size of a datagram in bytes.
    public static let maximumSize = DTLSSession.maximumMessageSize

    /// The member that sent the datagram.
    public var sender: MemberID
    /// The content of the datagram.
    public var bytes: [UInt8]
}
