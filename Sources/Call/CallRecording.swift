// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// One callback of the device: its frames on the device's counter, its nominal time, and the latencies at this time.
@frozen
package struct CallCycle: BitwiseCopyable, Sendable {
    /// The device's frame counter at the first frame of the cycle.
    package var sampleTime: Int64
    package var frameCount: Int
    /// The nominal start of the cycle.
    package var hostTime: HostTime
    /// The seconds from the input converter to the start of the cycle, which the device reports.
    package var inputLatency: Double
    /// The seconds from the start of the cycle to the output converter, which the device reports.
    package var outputLatency: Double
    /// The seconds from the due time of the callback to its beginning.
    package var lateness = 0.0

    @_noLocks
    init(
        sampleTime: Int64, frameCount: Int, hostTime: HostTime, inputLatency: Double = 0, outputLatency: Double = 0
    ) {
        self.sampleTime = sampleTime
        self.frameCount = frameCount
        self.hostTime = hostTime
        self.inputLatency = inputLatency
        self.outputLatency = outputLatency
    }

    /// - Parameter frameCount: the frames of the cycle that are processed.
    @_noLocks
    init(_ cycle: IOCycle, frameCount: Int) {
        self.init(
            sampleTime: cycle.sampleTime, frameCount: frameCount, hostTime: cycle.hostTime,
            inputLatency: cycle.inputLatency, outputLatency: cycle.outputLatency)
        lateness = cycle.lateness
    }
}

/// A recording of each remote peer, played out with a longer delay than live playout.
///
/// The packets are the same, but the earliest packet waits ``depth``, so that packets too late for live playout and
/// retransmissions are in time; only lost packets are missing. The delay changes only by resampling, inaudibly. Packets are
/// decoded a second time, on the reading thread, because the live decoder's concealment cannot be undone. The device's callback
/// only notes its cycles in a queue, and neither it nor the media thread ever waits for the reader.
///
/// Also has the local voice as captured (``readLocalVoice(_:)``).
///
/// Call ``read(until:tolerance:_:)`` on one thread at a time, but not on the callback's or the media thread, and at most 2 s
/// late. The limit is shorter if packets or blocks have under 48 frames, because the queues hold a limited number of them. The
/// other members are for any thread except the callback's and the media thread.
package final class CallRecording: Sendable {
    /// The default seconds by which a recording lags behind the earliest packet. A killed program loses this much.
    package static let depth = 0.35
    /// The device's sample rate in hertz.
    package let sampleRate: Double
    /// The channels of each voice.
    package let channelCount: Int

    /// The default seconds for which the device may not call before the voices are rendered without it.
    package static let deviceTolerance = 0.5

    private static let maximumVoices = 16
    /// The maximum seconds of a gap that are rendered; in a longer gap, as after a suspension, no packets arrived.
    private static let maximumRenderedGap = 60.0
    /// The seconds by which the recording lags behind the earliest packet.
    package let depth: Double
    private let block: AudioBuffer
    private let taps: (dry: SoundTap, raw: SoundTap)
    private let localBlock: AudioBuffer
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
        /// The nominal host time of the frame `expectedSampleTime`.
        var expectedHostTime: HostTime?
        /// The next cycle, which waits until the frames skipped before it are rendered.
        var pendingCycle: CallCycle?
    }

    /// Creates a recording, which is the only reader of the processor's cycles and taps after ``begin(includesRawVoice:)``.
    /// - Parameter depth: the seconds by which the recording lags behind the earliest packet, 0.001 to 1.
    package init(
        of processor: CallProcessor, sampleRate: Double, channelCount: Int, depth: Double = CallRecording.depth
    ) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.depth = depth
        taps = (processor.dryTap, processor.rawTap)
        block = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        localBlock = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        inside = Mutex(Inside(cycles: processor.cycles))
    }

    /// Discards the cycles so far: the recording begins with the next one. The previous reader of the cycles must have ended.
    /// - Parameter includesRawVoice: true also to record the local voice before voice processing.
    package func begin(includesRawVoice: Bool = false) {
        inside.withLock { inside in while inside.cycles?.pop() != nil {} }
        taps.dry.begin()
        if includesRawVoice { taps.raw.begin() }
    }

    /// The stages of the local voice that are recorded. Both are silent while the local peer is muted.
    package enum LocalVoice: Sendable {
        /// After voice processing, before effects and inserts.
        case dry
        /// Before voice processing.
        case raw
    }

    /// Reads the next captured block of the local voice. Frames that the device skipped, or that were read more than 2 s late,
    /// are missing between two blocks. For the thread that reads the remote voices.
    /// - Returns: the block's time on the capturing device's counter, and its frames, which are valid until the next call; nil if
    ///   all blocks were read.
    package func readLocalVoice(_ stage: LocalVoice) -> (cycle: CallCycle, sound: ReadOnlyChannels)? {
        let tap = stage == .dry ? taps.dry : taps.raw
        return tap.read(localBlock.channels).map { ($0, ReadOnlyChannels(localBlock.channels)) }
    }

    /// Renders the next block of every voice.
    ///
    /// The block's sound was played live ``depth`` earlier, less the live delay; each voice is timed by its own earliest packet.
    /// Also renders frames that the device skipped, and the time without callbacks.
    /// - Parameters:
    ///   - now: if the device is not called by then, the recording goes on without it; nil: it waits.
    ///   - tolerance: the seconds without a callback after which the recording goes on.
    ///   - visit: receives each voice's frames of the block, which are valid during the call; it must not call the recording.
    ///     After a renegotiation it receives the peer's old voice beside the new one, for the recording's delay plus 0.25 s, so
    ///     that no frame of either is missing: add the two.
    /// - Returns: the block's cycle; nil if all cycles were read or the recording has ended.
    package func read(
        until now: HostTime? = nil, tolerance: Double = CallRecording.deviceTolerance,
        _ visit: (_ peer: PeerID, _ sound: ReadOnlyChannels, _ frameCount: Int) -> Void
    ) -> CallCycle? {
        inside.withLock { inside in
            guard let cycle = Self.next(&inside, sampleRate) ?? missedCycle(&inside, now, tolerance) else { return nil }
            inside.expectedSampleTime = cycle.sampleTime + Int64(cycle.frameCount)
            inside.expectedHostTime = cycle.hostTime.advanced(bySeconds: Double(cycle.frameCount) / sampleRate)
            for index in inside.voices.indices {
                inside.voices[index].playout.renderer.pull(
                    block.channels, frameCount: cycle.frameCount, sampleTime: cycle.sampleTime,
                    hostTime: cycle.hostTime)
                visit(inside.voices[index].peer, ReadOnlyChannels(block.channels), cycle.frameCount)
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

    /// Returns the device's next cycle, or a part of the frames that it skipped before. The frames of a cycle that were rendered
    /// without the device are not rendered again.
    private static func next(_ inside: inout Inside, _ sampleRate: Double) -> CallCycle? {
        while var cycle = inside.pendingCycle ?? inside.cycles?.pop() {
            inside.pendingCycle = nil
            guard let expected = inside.expectedSampleTime else { return cycle }
            let skipped = Int(cycle.sampleTime - expected)
            if skipped + cycle.frameCount <= 0 { continue }
            if skipped < 0 {
                cycle.sampleTime = expected
                cycle.frameCount += skipped
                cycle.hostTime = cycle.hostTime.advanced(bySeconds: -Double(skipped) / sampleRate)
            } else if skipped > 0, Double(skipped) < maximumRenderedGap * sampleRate {
                inside.pendingCycle = cycle
                return CallCycle(
                    sampleTime: expected, frameCount: min(skipped, IOCycle.maximumFrameCount),
                    hostTime: cycle.hostTime.advanced(bySeconds: -Double(skipped) / sampleRate))
            }
            return cycle
        }
        return nil
    }

    /// Returns a cycle for a device that has not called for longer than `tolerance`; nil while there is no need.
    private func missedCycle(_ inside: inout Inside, _ now: HostTime?, _ tolerance: Double) -> CallCycle? {
        guard let now, inside.cycles != nil, let sampleTime = inside.expectedSampleTime,
            let hostTime = inside.expectedHostTime
        else { return nil }
        let missing = now.seconds(since: hostTime) - tolerance
        let frameCount = missing > Self.maximumRenderedGap ? 0 : Int(missing * sampleRate)
        guard frameCount > 0 else { return nil }
        return CallCycle(
            sampleTime: sampleTime, frameCount: min(frameCount, IOCycle.maximumFrameCount), hostTime: hostTime)
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

    /// Ends the recording: ``read(until:tolerance:_:)`` returns nil from now on.
    func end() {
        taps.dry.end()
        taps.raw.end()
        inside.withLock { inside in
            inside.cycles = nil
            inside.pendingCycle = nil
            inside.voices = []
        }
    }
}
