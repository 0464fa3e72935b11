// SPDX-License-Identifier: Apache-2.0

/// The negotiated repair of a stream's lost packets, and of a slow link, both ways.
package struct RTPRepair: Hashable, Sendable {
    /// The payload type of packets that carry earlier blocks too (RED, RFC 2198); nil for none.
    package var redundant: UInt8?
    /// The payload type of packets that are sent once more (RFC 4588); nil for none. They are a source of their own, whose
    /// number differs from the stream's in the lowest bit.
    package var repeated: UInt8?
    /// True if the remote peer takes NACKs.
    package var takesNACK = false
    /// True if the remote peer takes extended reports of losses and of the buffer.
    package var takesReports = false

    /// True if the remote peer takes requests for a lower bit rate (TMMBR, RFC 5104).
    package var takesRateRequests = false
    /// The payload type of packets of Opus that may stand in for those of the stream; nil for none.
    package var reserve: UInt8?

    /// No repair.
    package init() {}
}
