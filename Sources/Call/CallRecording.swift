// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// One callback of the device: its frames on the device's counter, and its nominal time.
@frozen
package struct CallCycle: BitwiseCopyable, Sendable {
    /// The device's frame counter at the first frame of the cycle.
    package var sampleTime: Int64
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

/// A recording of each remote peer, played out with a longer delay than live playout.
///
/// The packets are the same, but the earliest packet waits half a second, so that packets too late for live playout and
/// retransmissions are in time; only lost packets are missing. The delay changes only by resampling, inaudibly. Packets are
/// decoded a second time, on the reading thread, because the live decoder's concealment cannot be undone. The device's callback
/// only notes its cycles in a queue, and neither it nor the media thread ever waits for the reader.
///
/// Call ``read(_:)`` on one thread at a time, but not on the callback's or the media thread, and at most 2 s late. The limit is
/// shorter if packets or blocks have under 48 frames, because the queues hold a limited number of them. The other members are for
/// any thread except the callback's and the media thread.
package final class CallRecording: Sendable {
    /// The default seconds by which a recording lags behind the earliest packet.
    package static let depth = 0.5
    /// The device's sample rate in hertz.
    package let sampleRate: Double
    /// The channels of each voice.
    package let channelCount: Int

    private static let maximumVoices = 16
    private let depth: Double
    private let block: AudioBuffer
    private let inside: Mutex<Inside>

    private struct Voice {
        let peer: PeerID
        let playout: Playout
        /// The frames still to be read of a voice that was replaced or removed; nil for a current voice.
        var framesLeft: Int?
    }
    private struct Inside {
        /// The cycles of the playing callback; nil when the recording has ended.
        var cycles: MessageQueue<CallCycle>?
        var voices: [Voice] = []
        var expectedSampleTime: Int64?
        /// The next cycle, which waits until the frames skipped before it are rendered.
        var pendingCycle: CallCycle?
    }

    /// - Parameters:
    ///   - cycles: the cycles of the callback for live playout; the recording is their only reader after ``begin()``.
    ///   - depth: the seconds by which the recording lags behind the earliest packet, 0.001 to 1.
    package init(
        _ cycles: MessageQueue<CallCycle>, sampleRate: Double, channelCount: Int, depth: Double = CallRecording.depth
    ) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.depth = depth
        block = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        inside = Mutex(Inside(cycles: cycles))
    }

    /// Discards the cycles so far: the recording begins with the next one. The previous reader of the cycles must have ended.
    package func begin() {
        inside.withLock { inside in while inside.cycles?.pop() != nil {} }
    }

    /// Renders the next block of every voice.
    ///
    /// The block's sound was played live ``depth`` earlier, less the live delay; each voice is timed by its own earliest packet.
    /// Frames that the device skipped, up to 2 s, are rendered too.
    /// - Parameter visit: receives each voice's frames of the block, which are valid during the call; it must not call the
    ///   recording. After a renegotiation it receives the peer's old voice beside the new one, for the recording's delay plus
    ///   0.25 s, so that no frame of either is missing: add the two.
    /// - Returns: the block's cycle; nil if all cycles were read or the recording has ended.
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

    /// Returns the statistics of a remote voice's recording playout; nil if there is none.
    package func statistics(of peer: PeerID) -> PlayoutStatistics? {
        inside.withLock { $0.voices.last { $0.peer == peer }?.playout.statistics }
    }

    /// Returns the number of a remote peer's packets that are missing because the recording was read too late.
    package func rejectedPackets(of peer: PeerID) -> Int {
        inside.withLock { $0.voices.last { $0.peer == peer }?.playout.packets.rejectedPackets ?? 0 }
    }

    private static func next(_ inside: inout Inside, _ sampleRate: Double) -> CallCycle? {
        guard var cycle = inside.pendingCycle ?? inside.cycles?.pop() else { return nil }
        inside.pendingCycle = nil
        if let expected = inside.expectedSampleTime, cycle.sampleTime > expected,
            Double(cycle.sampleTime - expected) < 2 * sampleRate
        {
            inside.pendingCycle = cycle
            let skipped = Int(cycle.sampleTime - expected)
            cycle = CallCycle(
                sampleTime: expected, frameCount: min(skipped, IOCycle.maximumFrameCount),
                hostTime: cycle.hostTime.advanced(bySeconds: -Double(skipped) / sampleRate))
        }
        inside.expectedSampleTime = cycle.sampleTime + Int64(cycle.frameCount)
        return cycle
    }

    // MARK: Voices

    /// Creates a remote peer's recording playout. Its sound is recorded once the media thread has the playout and
    /// ``replace(_:by:)`` was called.
    package func listener(to configuration: CallConfiguration) throws(CodecError) -> RecordingPlayout {
        try RecordingPlayout(configuration, depth: depth)
    }

    /// Replaces the recording playout of a remote peer; nil for none. Sound received before is still read.
    package func replace(_ peer: PeerID, by listener: RecordingPlayout?) {
        inside.withLock { inside in
            for index in inside.voices.indices
            where inside.voices[index].peer == peer && inside.voices[index].framesLeft == nil {
                inside.voices[index].framesLeft = Int((depth + 0.25) * sampleRate)
            }
            if let listener { inside.voices.append(Voice(peer: peer, playout: listener.playout)) }
            // While the device does not call, nothing is read: ended voices would accumulate.
            while inside.voices.count > Self.maximumVoices,
                let oldest = inside.voices.firstIndex(where: { $0.framesLeft != nil })
            {
                inside.voices.remove(at: oldest)
            }
        }
    }

    func remove(_ peer: PeerID) { replace(peer, by: nil) }

    /// Ends the recording: ``read(_:)`` returns nil from now on.
    func end() {
        inside.withLock { inside in
            inside.cycles = nil
            inside.pendingCycle = nil
            inside.voices = []
        }
    }
}
