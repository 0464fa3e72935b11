// SPDX-License-Identifier: Apache-2.0

/// The counts of a playout since its start, and its state.
@frozen
public struct PlayoutStatistics: BitwiseCopyable, Sendable {
    /// The packets that reached the callback.
    public var packets = 0
    /// The packets, also counted in ``packets``, that arrived too late.
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
    /// The depth of the jitter buffer in seconds: how much later than the earliest packet a packet may arrive and
    /// still be played.
    public var depth = 0.0
    /// The target of ``depth``, in seconds.
    public var targetDepth = 0.0
    /// The maximum of ``depth`` in seconds.
    package var depthLimit = 0.0
    /// The packets that were recovered in time, from another packet or by retransmission.
    public var recoveredPackets = 0
    /// The packets, also counted in ``recoveredPackets``, that were requested.
    public var requestedPackets = 0
    /// The packets, also counted in ``recoveredPackets``, that were decoded from the codec's redundancy in the next packet.
    public var codecRecoveredPackets = 0
    /// The seconds from the earliest packet's arrival until that packet's first frame is rendered.
    public var delay = 0.0
    /// The stream's frame, counted like packets' positions, at which the last block began.
    public var position = 0.0
    /// The drift of the sender's device clock relative to the local device's in ppm; 20 means that the sender is 20 ppm fast.
    public var driftPPM = 0.0
    /// The frames of the last decoded packet.
    public var framesPerPacket = 0
    /// True if a packet has arrived.
    public var isStarted = false

    /// Creates counts of zero.
    @_noLocks
    package init() {}
}
