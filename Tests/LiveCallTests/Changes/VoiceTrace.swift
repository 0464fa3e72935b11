// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotPlayout

@testable import EarshotCall

/// The counters of one person's voice at another, as the product counts them, whenever sound was missing.
struct VoiceTrace {
    /// The cause of a gap, by the counters around it.
    enum Cause: Equatable {
        /// A packet came after its time: nothing was lost or skipped, and playout has delayed the voice by as many frames.
        case latePacket
        case lostPacket
        /// Frames that the device did not deliver, or that were skipped.
        case skip
        case unknown
    }

    private struct Entry {
        let time: HostTime
        let missingPackets: Int
        let concealedFrames: Int
        let insertedFrames: Int
        let skippedFrames: Int
        let stretchedFrames: Int

        init(_ playout: PlayoutStatistics, _ media: MediaStatistics, at time: HostTime) {
            self.time = time
            missingPackets = playout.missingPackets
            concealedFrames = playout.concealedFrames
            insertedFrames = playout.insertedFrames
            skippedFrames = playout.droppedFrames + media.captureLostFrames
            stretchedFrames = playout.stretchedFrames
        }

        func isSame(as other: Entry) -> Bool {
            missingPackets == other.missingPackets && concealedFrames == other.concealedFrames
                && insertedFrames == other.insertedFrames && skippedFrames == other.skippedFrames
                && stretchedFrames == other.stretchedFrames
        }
    }

    /// The packets so far.
    private(set) var packetCount = 0
    /// The share of packets that the listener's dial has allowed to be late at most.
    private(set) var lateShare = 0.0
    private var entries: [Entry] = []

    /// Adds the counters after a cycle of the listener's device.
    mutating func add(_ statistics: CallStatistics, at time: HostTime) {
        packetCount = statistics.playout.packets
        lateShare = max(lateShare, statistics.configuration.latencyProfile.lateShare)
        let entry = Entry(statistics.playout, statistics.media, at: time)
        if let last = entries.last, last.isSame(as: entry) { return }
        entries.append(entry)
    }

    /// The seconds for which decoded sound may wait until it is heard, with its crossfade, and those by which a card's clock may
    /// differ from the time of its sound.
    private static let (longestWait, tolerance) = (0.04, 0.02)

    /// Returns true if the voice may have jumped in time while it was heard: sound was concealed, skipped, removed or repeated.
    func jumps(from start: HostTime, to end: HostTime) -> Bool {
        let (first, last) = (start.advanced(bySeconds: 0 - Self.longestWait), end.advanced(bySeconds: Self.tolerance))
        return entries.dropFirst().contains { $0.time >= first && $0.time <= last }
    }

    /// The seconds before and after the time at which a gap was noted, in which the counters tell its cause.
    private static let (before, after) = (0.06, 0.1)

    /// Returns the cause of the frames whose absence was noted at a time.
    func cause(at time: HostTime) -> Cause {
        let (start, end) = (time.advanced(bySeconds: 0 - Self.before), time.advanced(bySeconds: Self.after))
        guard let first = entries.last(where: { $0.time < start }) ?? entries.first,
            let last = entries.last(where: { $0.time <= end })
        else { return .unknown }
        if last.skippedFrames > first.skippedFrames { return .skip }
        if last.missingPackets > first.missingPackets { return .lostPacket }
        let concealed = last.concealedFrames - first.concealedFrames
        return concealed > 0 && last.insertedFrames - first.insertedFrames >= concealed ? .latePacket : .unknown
    }

    /// Returns true if so many late packets are within the share that the dial allows. A single one is: no delay is known to be
    /// the longest before it was seen.
    func allows(latePackets count: Int) -> Bool { Double(count) <= max(1, lateShare * Double(packetCount)) }
}
