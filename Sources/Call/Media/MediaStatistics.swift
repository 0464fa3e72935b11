// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The network counts of a call, made by the media thread.
public struct MediaStatistics: Sendable {
    /// Packets, losses, jitter and round trip (RFC 3550).
    public var rtp: RTPStatistics
    /// The arrival of the last packet of sound.
    public var lastMedia: HostTime?
    /// The arrival of the remote peer's last packet of any kind: a peer without a sound card still sends reports.
    public var lastHeard: HostTime?
    /// True if the remote peer has said goodbye, and has not begun anew since.
    public var peerLeft = false
    /// Frames lost between the microphone and the encoder, because the media thread was held up.
    public var captureLostFrames = 0
    /// Packets that were not what was agreed on.
    public var corruptPackets = 0
    /// AAC frames that came after decoding had passed them.
    public var lateUnits = 0
    /// Packets that found the queue to playout full: the device had stopped calling.
    public var rejectedPackets = 0
    /// Lost packets that came after all: by another packet that carried them too, or once more.
    public var recoveredPackets = 0
    /// Packets that came by themselves and by another, or more than once.
    public var redundantPackets = 0
    /// Reports that asked the remote peer for packets; how many of its own asked for ours is in ``rtp``.
    public var nacksSent = 0
    /// Packets that went out once more because they were asked for.
    public var retransmittedPackets = 0
    /// Packets that went out once more unasked, mostly within others.
    public var repeatedPackets = 0
    /// The redundancy at present.
    package var redundancy = RedundancyPlan.none

    /// The form in which sound is sent, and the link's rate; nil if nothing is sent.
    public var rate: RateState?

    /// Empty counts but for `rtp`.
    package init(rtp: RTPStatistics) { self.rtp = rtp }
}
