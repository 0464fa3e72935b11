// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The network counts of a call, from the media thread.
public struct MediaStatistics: Sendable {
    /// The packets, losses, jitter and round trip (RFC 3550).
    public var rtp: RTPStatistics
    /// The arrival of the last packet of sound, other than retransmissions; nil before the first.
    public var lastMedia: HostTime?
    /// The arrival of the last packet of any kind, nil before the first. A peer without a sound card still sends reports.
    public var lastHeard: HostTime?
    /// True if the remote peer said goodbye and has not started again since.
    public var peerLeft = false
    /// The frames lost between microphone and encoder, because the device skipped them or the media thread was late.
    public var captureLostFrames = 0
    /// The packets that did not have the negotiated format.
    public var corruptPackets = 0
    /// The AAC frames that arrived after they, or later ones, were decoded or skipped.
    public var lateUnits = 0
    /// The packets rejected because the playout's queue was full, as the device had stopped calling, or because they precede the
    /// source's first packet.
    public var rejectedPackets = 0
    /// The lost packets that were recovered, by redundancy or retransmission.
    public var recoveredPackets = 0
    /// The copies of packets that had arrived already, alone or within another packet.
    public var redundantPackets = 0
    /// The requests for packets sent to the remote peer; those received are counted in ``rtp``.
    public var nacksSent = 0
    /// The packets retransmitted to the remote peer on request.
    public var retransmittedPackets = 0
    /// The packets repeated to the remote peer without a request, mostly within other packets.
    public var repeatedPackets = 0
    /// The current redundancy of the sent packets.
    package var redundancy = RedundancyPlan.none

    /// The form of the sent sound and the link's rate; nil if nothing is sent.
    public var rate: RateState?

    /// The estimate of the remote peer's clock; nil if there is none, as with a peer that has no send times.
    package var clock: PeerClockReading?

    /// Creates counts of zero, with `rtp`.
    package init(rtp: RTPStatistics) { self.rtp = rtp }
}
