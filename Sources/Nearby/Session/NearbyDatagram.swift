// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A member's message, which may be lost or reordered.
public struct NearbyDatagram: Hashable, Sendable {
    /// The maximum bytes.
    public static let maximumSize = DTLSSession.maximumMessageSize

    /// The sender.
    public var sender: MemberID
    /// The content.
    public var bytes: [UInt8]
}
