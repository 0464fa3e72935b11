// SPDX-License-Identifier: Apache-2.0

extension SessionDescription.Direction {
    /// The direction of a side that sends, receives, both or neither.
    package init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
    }

    /// Returns true if the describing side sends.
    public var sends: Bool { self == .sendReceive || self == .sendOnly }

    /// Returns true if the describing side wants to be sent to.
    public var receives: Bool { self == .sendReceive || self == .receiveOnly }

    /// Returns the direction, limited to what the side can do.
    package func limited(to other: Self) -> Self {
        Self(sends: sends && other.sends, receives: receives && other.receives)
    }
}
