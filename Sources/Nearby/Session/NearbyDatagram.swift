// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A message of a member's that may have been overtaken by another.
public struct NearbyDatagram: Hashable, Sendable {
    /// Bytes of one at most.
    public static let maximumSize = DTLSSession.maximumMessageSize

    /// Whose.
    public var sender: MemberID
    /// What it says.
    public var bytes: [UInt8]
}
