// SPDX-License-Identifier: Apache-2.0

extension SessionDescription.Direction {
    /// Creates the direction of a side that sends, receives, both or neither.
    package init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
    }

    /// Returns true if the describing side sends.
    public var sends: Bool { self == .sendReceive || self == .sendOnly }

    /// Returns true if the describing side receives.
    public var receives: Bool { self == .sendReceive || self == .receiveOnly }

    /// Returns this direction without sending or receiving if `other` lacks that.
    package func limited(to other: Self) -> Self {
        Self(sends: sends && other.sends, receives: receives && other.receives)
    }
}
