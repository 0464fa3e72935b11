// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// One callback of the device: its frames on the device's counter, and the time at which they were due.
@frozen
package struct CallCycle: BitwiseCopyable, Sendable {
    /// The device's frame counter at the first frame.
    package var sampleTime: Int64
    /// The number of frames.
    package var frameCount: Int
    /// The nominal start of the cycle.
    package var hostTime: HostTime

    @_noLocks
    init(sampleTime: Int64, frameCount: Int, hostTime: HostTime) {
        self.sampleTime = sampleTime
        self.frameCount = frameCount
        self.hostTime = hostTime
    }
}

/// A recording of each remote peer, played out with a safer delay than live playout.
///
/// The packets are the same. But here the earliest packet waits half a second, so that packets too late for live playout are in
/// time, retransmissions included; what is still missing was lost. Only the resampler changes the delay, inaudibly. Packets are
/// decoded a second time, on the thread that reads, because the live decoder's concealment cannot be undone. The device's callback
/// does no more than to note each of its cycles in a queue, and neither it nor the media thread ever waits for who reads.
///
/// ``read(_:)`` is for any thread but those two, one at a time; 2 s late at most, less where packets or blocks
/// have under 48 frames, as only so many of them are kept. The rest is for any such thread.
package final class CallRecording: Sendable {
    /// Seconds that it is behind the promptest packet.
    package static let depth = 0.5
    /// Hertz, the device's.
    package let sampleRate: Double
    /// Channels of each voice.
    package let channelCount: Int

    private static let mostVoices = 16
    private let depth: Double
    private let block: AudioBuffer
    private let inside: Mutex<Inside>

    private struct Voice {
        let peer: PeerID
        let playout: Playout
        /// Frames left to play after the participant left; nil while present.
        var framesLeft: Int?
    }
    private struct Inside {
        /// Nil when it has ended.
        var cycles: MessageQueue<CallCycle>?
        var voices: [Voice] = []
        var expected: Int64?
        /// The cycle after frames that the device skipped.
        var pending: CallCycle?
    }

    /// - Parameters:
    ///   - cycles: those of the callback that pulls for live playout; the recording is their only reader from ``begin()`` on.
    ///   - depth: seconds that it is behind the promptest packet, 0.001 to 1.
    package init(
        _ cycles: MessageQueue<CallCycle>, sampleRate: Double, channelCount: Int, depth: Double = CallRecording.depth
    ) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.depth = depth
        block = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        inside = Mutex(Inside(cycles: cycles))
    }

    /// Begins with the next cycle. Any earlier reader must have ended.
    package func begin() {
        inside.withLock { inside in while inside.cycles?.pop() != nil {} }
    }

    /// Renders the next block of every voice.
    ///
    /// Reads the cycle at `sampleTime`, which has waited for ``depth``, of each voice from its own promptest packet on: so much
    /// later, less the live delay, than it was heard. Frames that the device skipped, up to 2 s, are there too.
    /// - Parameter take: gets each voice's sound, as many frames as the block has; valid during the call, which must not ask the
    ///   recording anything. Where something else is agreed on with a remote peer the old voice goes on for 0.75 s beside the new
    ///   one, so that nothing of either is missing: both are to be added up.
    /// - Returns: which frames; nil if the device has not called since.
    package func read(_ visit: (_ peer: PeerID, _ sound: ReadOnlyChannels) -> Void) -> CallCycle? {
        inside.withLock { inside in
            guard let cycle = Self.next(&inside, sampleRate) else { return nil }
            for index in inside.voices.indices {
                inside.voices[index].playout.renderer.pull(
                    block.channels, frameCount: cycle.frameCount, sampleTime: cycle.sampleTime,
                    hostTime: cycle.hostTime)
                visit(inside.voices[index].peer, ReadOnlyChannels(block.channels))
                if let framesLeft = inside.voices[index].framesLeft {
                    inside.voices[index].framesLeft = framesLeft - cycle.frameCount
                }
            }
            inside.voices.removeAll { ($0.framesLeft ?? 1) <= 0 }
            return cycle
        }
    }

    /// Returns the recording playout's statistics of a remote voice; nil if there is none.
    package func statistics(of peer: PeerID) -> PlayoutStatistics? {
        inside.withLock { $0.voices.last { $0.peer == peer }?.playout.statistics }
    }

    /// Packets of a remote peer's that are not in it as it was read too late.
    package func rejectedPackets(of peer: PeerID) -> Int {
        inside.withLock { $0.voices.last { $0.peer == peer }?.playout.packets.rejectedPackets ?? 0 }
    }

    private static func next(_ inside: inout Inside, _ sampleRate: Double) -> CallCycle? {
        guard var cycle = inside.pending ?? inside.cycles?.pop() else { return nil }
        inside.pending = nil
        if let expected = inside.expected, cycle.sampleTime > expected,
            Double(cycle.sampleTime - expected) < 2 * sampleRate
        {
            inside.pending = cycle
            let skipped = Int(cycle.sampleTime - expected)
            cycle = CallCycle(
                sampleTime: expected, frameCount: min(skipped, IOCycle.maximumFrameCount),
                hostTime: cycle.hostTime.advanced(bySeconds: -Double(skipped) / sampleRate))
        }
        inside.expected = cycle.sampleTime + Int64(cycle.frameCount)
        return cycle
    }

    // MARK: Who is in it

    /// Returns the listener to a remote peer, which begins once the media thread has it and ``replace(_:by:)`` was called.
    package func listener(to configuration: CallConfiguration) throws(CodecError) -> RecordingPlayout {
        try RecordingPlayout(configuration, depth: depth)
    }

    /// Replaces the playout that records a remote peer; nil for none. The sound received before is read to its end.
    package func replace(_ peer: PeerID, by listener: RecordingPlayout?) {
        inside.withLock { inside in
            for index in inside.voices.indices
            where inside.voices[index].peer == peer && inside.voices[index].framesLeft == nil {
                inside.voices[index].framesLeft = Int((depth + 0.25) * sampleRate)
            }
            if let listener { inside.voices.append(Voice(peer: peer, playout: listener.playout)) }
            // A voice that ended is not read to its end while the device does not call.
            while inside.voices.count > Self.mostVoices,
                let oldest = inside.voices.firstIndex(where: { $0.framesLeft != nil })
            {
                inside.voices.remove(at: oldest)
            }
        }
    }

    func remove(_ peer: PeerID) { replace(peer, by: nil) }

    /// Ends the recording: nothing more can be read.
    func end() {
        inside.withLock { inside in
            inside.cycles = nil
            inside.pending = nil
            inside.voices = []
        }
    }
}
