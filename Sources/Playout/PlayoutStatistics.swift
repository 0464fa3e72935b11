// SPDX-License-Identifier: Apache-2.0

/// The counts of a playout since its start, and its state.
@frozen
public struct PlayoutStatistics: BitwiseCopyable, Sendable {
    /// The packets that reached the callback.
    public var packets = 0
    /// The packets of these that arrived too late.
    public var latePackets = 0
    /// The packets that were missing when needed; those that arrived later are also in ``latePackets``.
    public var missingPackets = 0
    /// The concealed frames, at the stream's rate.
    public var concealedFrames = 0
    /// The runs of concealment and skips, each counted once: the faults that a listener may have noticed.
    public var glitches = 0
    /// The frames, at the stream's rate, by which sound was stretched or shortened inaudibly: periods of a voice, or silence.
    public var stretchedFrames = 0
    /// The number of jumps of the timeline.
    public var skips = 0
    /// The frames of the stream skipped to shorten the delay, or with a device that skipped.
    public var droppedFrames = 0
    /// The synthesized frames inserted to lengthen the delay.
    public var insertedFrames = 0
    /// The restarts of the sender.
    public var restarts = 0
    /// The depth of the jitter buffer in seconds: how much later than the earliest packet one may arrive and still play.
    public var depth = 0.0
    /// The target of ``depth``.
    public var targetDepth = 0.0
    /// The maximum of ``depth`` in seconds.
    package var depthLimit = 0.0
    /// The packets that were recovered in time, from another packet or by retransmission.
    public var recoveredPackets = 0
    /// The packets of these that were requested.
    public var requestedPackets = 0
    /// The packets of these that were decoded from the redundancy in the next one.
    public var codecRecoveredPackets = 0
    /// The seconds from the earliest packet's arrival until its first frame is rendered.
    public var delay = 0.0
    /// The stream's frame, counted like packets' positions, at which the last block began.
    public var position = 0.0
    /// The sender's device clock relative to this one's; 20 is 20 ppm fast.
    public var driftPPM = 0.0
    /// The frames of the last played packet.
    public var framesPerPacket = 0
    /// True if a packet has arrived.
    public var isStarted = false

    /// Creates counts of zero.
    @_noLocks
    package init() {}
}
