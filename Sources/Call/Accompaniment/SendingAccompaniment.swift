// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The song on the capturing render thread: added to the block of the sent voice, if the song is for all.
///
/// The song is delayed by the latencies of loudspeaker, microphone and voice path, so that it is in time with the voice.
/// A change of this delay is a crossfade over 5 ms.
struct SendingAccompaniment: ~Copyable {
    private let values: UnsafeMutablePointer<AccompanimentMemory.Values>
    private let played: PlayedSong
    private let playedTime: LatestValue<PlayedTime>.Reader
    private let blocks: (Channels, Channels)
    private let sampleRate: Double
    private let hasSeparateMicrophone: Bool
    private let fadeLength: Int
    /// The deviation of the delay in frames above which it is corrected: 1 ms; 3 ms with two devices, whose clocks drift.
    private let tolerance: Int64
    private var share: GainRamp  // 1 while the song is sent
    private var peakGuard: PeakLimiter
    private var guardedCount = 0  // the frames for which the limiter still runs
    /// The next frame to send; nil while the song is not sent.
    private var position: Int64?
    /// The next frame after a correction of the delay, and the frames of the crossfade so far; nil without a crossfade.
    private var correction: (position: Int64, progress: Int)?
    private var expectedSampleTime: Int64 = .min
    /// The frame at which the played song began again after a gap.
    private var firstPosition: Int64 = .min
    /// The frames of the longest recent block, and the frames since the last block of this length.
    private var (longestBlock, shorterCount) = (0, 0)
    /// Seconds, within the memory of the played song.
    private static var maximumDelay: Double { @_noLocks get { 0.75 } }

    init(
        values: UnsafeMutablePointer<AccompanimentMemory.Values>, played: PlayedSong,
        playedTime: LatestValue<PlayedTime>.Reader, blocks: (Channels, Channels), sampleRate: Double,
        hasSeparateMicrophone: Bool
    ) {
        self.values = values
        self.played = played
        self.playedTime = playedTime
        self.blocks = blocks
        self.sampleRate = sampleRate
        self.hasSeparateMicrophone = hasSeparateMicrophone
        fadeLength = Int(0.005 * sampleRate)
        tolerance = Int64(sampleRate * (hasSeparateMicrophone ? 0.003 : 0.001))
        share = GainRamp(0, sampleRate: sampleRate)
        peakGuard = PeakLimiter(sampleRate: sampleRate)
    }

    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frameCount = cycle.frameCount
        // The device has skipped frames, so the earlier sound has ended without a fade.
        if cycle.sampleTime != expectedSampleTime {
            share.reset(0)
            (position, correction) = (nil, nil)
            if !hasSeparateMicrophone { firstPosition = cycle.sampleTime }
        }
        expectedSampleTime = cycle.sampleTime &+ Int64(frameCount)
        for c in 0..<cycle.output.count { copySamples(cycle.output[c], cycle.input[c], frameCount) }
        let time = playedTime.load()
        let goal = goal(cycle, time)
        // The delay is known from the first played block on.
        let isSent =
            values.pointee.isForAll.load(ordering: .relaxed) && time.hostTime.nanoseconds != 0 && goal >= firstPosition
        share.begin(isSent ? 1 : 0, frameCount)
        if share.isSilent {
            (position, correction) = (nil, nil)
        } else {
            read(frameCount, goal)
            share.add(blocks.0, to: cycle.output, frameCount)
            guardedCount = Int(sampleRate)
        }
        guard guardedCount > 0 else { return }
        // Voice and song together may exceed full scale.
        peakGuard.process(cycle.output, frameCount)
        guardedCount = guardedCount &- frameCount
    }

    /// Returns the frame of the song to which the block's first frame was sung.
    @_noLocks
    private mutating func goal(_ cycle: IOCycle, _ time: PlayedTime) -> Int64 {
        // The blocks of an earlier device do not count for longer than a second.
        if cycle.frameCount >= longestBlock || shorterCount >= Int(sampleRate) {
            (longestBlock, shorterCount) = (cycle.frameCount, 0)
        } else {
            shorterCount = shorterCount &+ cycle.frameCount
        }
        let seconds = cycle.inputLatency + time.outputLatency
        let deviceDelay = Int64(max(0, min(1, seconds)) * sampleRate + 0.5)
        // A block may be sent before the one of the same cycle is played.
        let wholeDelay =
            max(deviceDelay, Int64(longestBlock)) &+ Int64(values.pointee.voiceDelay.load(ordering: .relaxed))
        let delay = min(wholeDelay, Int64(sampleRate * Self.maximumDelay))
        guard hasSeparateMicrophone else { return cycle.sampleTime &- delay }
        let passed = Double(cycle.hostTime.nanoseconds &- time.hostTime.nanoseconds) * 1e-9
        return time.sampleTime &+ Int64(max(-10, min(10, passed)) * sampleRate) &- delay
    }

    /// Reads the song's next block.
    @_noLocks
    private mutating func read(_ frameCount: Int, _ goal: Int64) {
        let position = position ?? goal
        played.read(blocks.0, at: position, frameCount)
        self.position = position &+ Int64(frameCount)
        let deviation = goal &- position
        if correction == nil, deviation > tolerance || deviation < 0 &- tolerance { correction = (goal, 0) }
        guard let (next, progress) = correction else { return }
        played.read(blocks.1, at: next, frameCount)
        let step = 1 / Float(fadeLength)
        for c in 0..<blocks.0.count {
            let (from, to) = (blocks.0[c], blocks.1[c])
            for i in 0..<frameCount {
                let frame = progress &+ i &+ 1
                let share = frame >= fadeLength ? 1 : Float(frame) * step
                from[i] += (to[i] - from[i]) * share
            }
        }
        let end = next &+ Int64(frameCount)
        guard progress &+ frameCount >= fadeLength else { return correction = (end, progress &+ frameCount) }
        self.position = end
        correction = nil
    }
}
