// SPDX-License-Identifier: Apache-2.0

/// The negotiated means against a stream's lost packets and a slow link, in both directions.
package struct RTPRepair: Hashable, Sendable {
    /// The payload type of packets with redundant blocks (RED, RFC 2198); nil for none.
    package var redundant: UInt8?
    /// The payload type of retransmissions (RFC 4588); nil for none. They have a separate source, which differs from the stream's
    /// in the lowest bit.
    package var repeated: UInt8?
    /// True if both peers support NACKs.
    package var takesNACK = false
    /// True if both peers support extended reports of losses and of the jitter buffer.
    package var takesReports = false

    /// True if both peers support requests for a lower bit rate (TMMBR, RFC 5104).
    package var takesRateRequests = false
    /// The payload type of Opus that replaces the stream's PCM while the link is slow; nil if that was not negotiated.
    package var reserve: UInt8?

    /// Creates the value for no repair.
    package init() {}
}
