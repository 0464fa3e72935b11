// SPDX-License-Identifier: Apache-2.0

/// The counts of a playout since its start, and its state.
@frozen
public struct PlayoutStatistics: BitwiseCopyable, Sendable {
    /// Packets that reached the callback.
    public var packets = 0
    /// Packets of these that arrived after their time.
    public var latePackets = 0
    /// Packets whose time came before they did; those that came later are among ``latePackets`` too.
    public var missingPackets = 0
    /// Frames, at the stream's rate, that were made up for missing ones.
    public var concealedFrames = 0
    /// Runs of concealment and skips, each counted once however long: the faults that a listener may have noticed.
    public var glitches = 0
    /// Frames, at the stream's rate, by which sound was made longer or shorter unheard: periods of a voice, or silence.
    public var stretchedFrames = 0
    /// Times the timeline was moved at once.
    public var skips = 0
    /// Frames of the stream left out to shorten the delay or to follow a device that skipped.
    public var droppedFrames = 0
    /// Synthesised frames inserted to lengthen the delay.
    public var insertedFrames = 0
    /// Times the sender was found to have started anew.
    public var restarts = 0
    /// Jitter-buffer depth in seconds: how much later than the earliest packet one may arrive and still play.
    public var depth = 0.0
    /// The same, as it should be.
    public var targetDepth = 0.0
    /// Seconds that ``depth`` may come to be.
    package var depthLimit = 0.0
    /// Packets that came by another packet, or once more, and were in time.
    public var recoveredPackets = 0
    /// Packets of these that were requested.
    public var requestedPackets = 0
    /// Packets of these that were decoded from the redundancy in the next one.
    public var codecRecoveredPackets = 0
    /// Seconds from the arrival of the promptest packet to the moment its first frame is rendered.
    public var delay = 0.0
    /// The stream's frame, counted as packets' positions are, that the last block began with.
    public var position = 0.0
    /// The sender's device clock against this one's; 20 is 20 parts in a million fast.
    public var driftPPM = 0.0
    /// Frames of the packet played last.
    public var framesPerPacket = 0
    /// True if a packet has come at all.
    public var isStarted = false

    /// Counts of zero.
    @_noLocks
    package init() {}
}
