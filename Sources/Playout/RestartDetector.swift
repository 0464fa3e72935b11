// SPDX-License-Identifier: Apache-2.0

/// Detects a restarted sender: by its mark, by an unrelated timeline, or by packets that are all older than the played ones.
struct RestartDetector: BitwiseCopyable {
    /// The greatest sequence number of the packets that were not recovered.
    private(set) var newestSequence = 0
    private var newestPosition = 0
    private var behindCount = 0  // packets in a row that are older than the one to be played next
    private var behindSince = 0.0  // the arrival of the first of these packets, in seconds

    /// The maximum packets in a row, older than the one to be played next, that reordering may cause; more mean a restart.
    private static var leastBehindCount: Int { @_noLocks get { 8 } }
    /// The minimum seconds between the first and the last of such packets for a restart: a burst of delayed packets is shorter.
    private static var leastBehindTime: Double { @_noLocks get { 0.5 } }

    /// Returns true if the packet belongs to a new stream.
    /// - Parameters:
    ///   - isForeign: true if the packet's delay is unrelated to the previous ones.
    ///   - nextSequence: the sequence number of the packet to be played next.
    ///   - framesPerPacket: the frames of the last played packet.
    ///   - now: the packet's arrival, in seconds.
    @_noLocks
    mutating func isRestart(
        _ header: PacketHeader, isForeign: Bool, nextSequence: Int, framesPerPacket: Int, at now: Double
    ) -> Bool {
        header.startsStream || isForeign && !isOverdue(header, framesPerPacket: framesPerPacket)
            || isBehind(header, nextSequence: nextSequence, at: now)
    }

    /// Stores the sequence number and the position of a packet that is newer than all before.
    @_noLocks
    mutating func note(_ header: PacketHeader) {
        guard header.sequence > newestSequence else { return }
        (newestSequence, newestPosition) = (header.sequence, header.position)
    }

    /// Starts with the first packet of a stream.
    @_noLocks
    mutating func start(at header: PacketHeader) {
        (newestSequence, newestPosition) = (header.sequence, header.position)
        behindCount = 0
    }

    /// Returns true if the packet belongs to the present stream and was overtaken, however late it is: its position is as many
    /// packets before the newest as its number says, within a factor of two, as packets may have any length. A restarted sender
    /// whose position fits by chance is recognized by later packets.
    @_noLocks
    private func isOverdue(_ header: PacketHeader, framesPerPacket: Int) -> Bool {
        let behind = newestSequence &- header.sequence
        let frames = newestPosition &- header.position
        let expectedFrames = behind &* framesPerPacket
        return behind > 0 && frames >= expectedFrames / 2 && frames <= 2 &* expectedFrames
    }

    /// Returns true if all packets of more than the last half second were older than the next one to play: the sender counts
    /// again from slightly below, or one packet had a number far too large.
    @_noLocks
    private mutating func isBehind(_ header: PacketHeader, nextSequence: Int, at now: Double) -> Bool {
        guard header.sequence < nextSequence else {
            behindCount = 0
            return false
        }
        if behindCount == 0 { behindSince = now }
        behindCount &+= 1
        return behindCount > Self.leastBehindCount && now - behindSince > Self.leastBehindTime
    }
}
