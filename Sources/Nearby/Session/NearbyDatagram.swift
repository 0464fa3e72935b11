// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A message of a member's that may have been overtaken by another.
public struct NearbyDatagram: Hashable, Sendable {
    /// Bytes of one at most.
    public static let maximumSize = DTLSSession.maximumMessageSize

    /// The sender.
    public var sender: MemberID
    /// The content.
    public var bytes: [UInt8]
}
