// SPDX-License-Identifier: Apache-2.0

/// Detects a sender that started anew: by its mark, by a foreign timeline, or by packets that all are older than the ones played.
struct RestartDetector: BitwiseCopyable {
    /// The greatest sequence number of the packets that arrived by themselves.
    private(set) var newestSequence = 0
    private var newestPosition = 0
    private var behindCount = 0
    private var behindSince = 0.0  // seconds

    /// Packets in a row behind the played one that show a restart: more than reordering brings.
    private static var leastBehindCount: Int { @_noLocks get { 8 } }
    /// Seconds that those packets must span: more than a burst of delayed ones does.
    private static var leastBehindTime: Double { @_noLocks get { 0.5 } }

    /// Returns true if the packet is one of a new stream.
    /// - Parameters:
    ///   - isForeign: true if the packet's delay has nothing in common with those before it.
    ///   - nextSequence: sequence number of the packet to be played next.
    ///   - framesPerPacket: frames of the packet played last.
    ///   - now: the packet's arrival, in seconds.
    @_noLocks
    mutating func isRestart(
        _ header: PacketHeader, isForeign: Bool, nextSequence: Int, framesPerPacket: Int, at now: Double
    ) -> Bool {
        header.startsStream || isForeign && !isOverdue(header, framesPerPacket: framesPerPacket)
            || isBehind(header, nextSequence: nextSequence, at: now)
    }

    /// Remembers the sequence number and the position of the newest packet.
    @_noLocks
    mutating func note(_ header: PacketHeader) {
        guard header.sequence > newestSequence else { return }
        (newestSequence, newestPosition) = (header.sequence, header.position)
    }

    /// Begins with the first packet of a stream.
    @_noLocks
    mutating func start(at header: PacketHeader) {
        (newestSequence, newestPosition) = (header.sequence, header.position)
        behindCount = 0
    }

    /// Returns true if other packets of this stream have overtaken the packet, however late it is: it lies as many packets behind
    /// the newest as its number says, within a factor of two, as packets may be of any length. Later packets tell a sender that
    /// begins anew there.
    @_noLocks
    private func isOverdue(_ header: PacketHeader, framesPerPacket: Int) -> Bool {
        let behind = newestSequence &- header.sequence
        let frames = newestPosition &- header.position
        let usual = behind &* framesPerPacket
        return behind > 0 && frames >= usual / 2 && frames <= 2 &* usual
    }

    /// Returns true if all packets of the last half second and more were older than the one played next: the sender counts anew
    /// from a little below, or one packet had a number far too large.
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
