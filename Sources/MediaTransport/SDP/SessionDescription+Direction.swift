// SPDX-License-Identifier: Apache-2.0

extension SessionDescription.Direction {
    /// What a side says that does the one, the other, both or neither.
    package init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
    }

    /// Whether the describing side sends.
    public var sends: Bool { self == .sendReceive || self == .sendOnly }

    /// Whether the describing side wants to be sent to.
    public var receives: Bool { self == .sendReceive || self == .receiveOnly }

    /// What is left of it where this is all that the side can do.
    package func limited(to other: Self) -> Self {
        Self(sends: sends && other.sends, receives: receives && other.receives)
    }
}
