// SPDX-License-Identifier: Apache-2.0

/// Payload types that are received besides the negotiated ones, while a stream changes its format.
package struct OtherPayloadTypes: Hashable, Sendable {
    /// The types of plain packets.
    package var plain: [UInt8] = []
    /// The type of packets with redundant blocks; nil for none.
    package var redundant: UInt8?

    /// Creates the value for no other types.
    package init() {}
}

extension RTPSession {
    /// Changes the format of sent packets without a gap: their numbers and times continue, and so does the remote peer's source.
    /// Types that may still arrive are in ``otherTypes``.
    /// - Parameter shift: the frames by which a position of the new format is later on the wire than before.
    package mutating func change(payloadType: UInt8, repair: RTPRepair, shift: Int) {
        precondition(payloadType < 128 && !(64...95).contains(payloadType))
        self.payloadType = payloadType
        self.repair = repair
        firstTimestamp &+= UInt32(truncatingIfNeeded: shift)
        sent.lastPosition -= shift  // the last packet keeps its time
    }

    /// Returns true if packets of this type belong to the stream. Inlined, because a call may copy the session.
    @inline(__always)
    package func accepts(_ type: UInt8) -> Bool {
        type == payloadType || type == repair.reserve || isRedundant(type) || otherTypes.plain.contains(type)
    }

    /// Returns true if packets of this type have redundant blocks.
    @inline(__always)
    func isRedundant(_ type: UInt8) -> Bool {
        type == repair.redundant || type == otherTypes.redundant && type != payloadType
    }
}
