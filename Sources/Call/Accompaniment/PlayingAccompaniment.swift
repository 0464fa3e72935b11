// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The song on the playing render thread: from the ring into the block of the playback.
///
/// The song fades over 5 ms, or over a block if that is longer, before it pauses, jumps, ends or runs out of frames. The fade-out
/// begins when the ring has less than a block and 5 ms, so that it has frames for the fade.
struct PlayingAccompaniment: ~Copyable {
    private let ring: AudioRing.Reader
    private let values: UnsafeMutablePointer<AccompanimentMemory.Values>
    private let clock: LatestValue<AccompanimentClock>.Writer
    private let played: PlayedSong
    private let playedTime: LatestValue<PlayedTime>.Writer
    private let block: Channels
    private var fade: GainRamp  // 1 while the song is heard
    private var volume: GainRamp
    private let fadeLength: Int
    private let restartLength: Int  // the frames besides a block and a fade that end an underrun
    /// The frames read or dropped so far.
    private var readCount = 0
    /// True until the ring has enough frames to begin.
    private var isStarved = true
    private var expectedSampleTime: Int64 = .min

    init(
        ring: AudioRing.Reader, values: UnsafeMutablePointer<AccompanimentMemory.Values>,
        clock: LatestValue<AccompanimentClock>.Writer, played: PlayedSong,
        playedTime: LatestValue<PlayedTime>.Writer, block: Channels, sampleRate: Double
    ) {
        self.ring = ring
        self.values = values
        self.clock = clock
        self.played = played
        self.playedTime = playedTime
        self.block = block
        fade = GainRamp(0, sampleRate: sampleRate)
        volume = GainRamp(1, sampleRate: sampleRate)
        fadeLength = Int(0.005 * sampleRate) &+ 1
        restartLength = Int(0.02 * sampleRate)
    }

    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frameCount = cycle.frameCount
        // The device has skipped frames, so the earlier sound has ended without a fade.
        if cycle.sampleTime != expectedSampleTime { fade.reset(0) }
        expectedSampleTime = cycle.sampleTime &+ Int64(frameCount)
        var time = AccompanimentClock(hostTime: cycle.hostTime)
        let songCount = render(frameCount, &time)
        for c in 0..<block.count { clearSamples(block[c] + songCount, frameCount &- songCount) }
        played.write(block, at: cycle.sampleTime, frameCount)
        playedTime.store(
            PlayedTime(
                sampleTime: cycle.sampleTime, hostTime: cycle.hostTime, outputLatency: cycle.outputLatency))
        clock.store(time)
        for c in 0..<cycle.output.count {
            copySamples(cycle.output[c], cycle.input[c], frameCount)
            if songCount > 0 { addSamples(cycle.output[c], block[c], songCount, gain: 1) }
        }
    }

    /// Renders the song into the block. Returns the number of its frames.
    @_noLocks
    private mutating func render(_ frameCount: Int, _ time: inout AccompanimentClock) -> Int {
        var oldCount = values.pointee.discardEnd.load(ordering: .acquiring) &- readCount
        if oldCount > 0, fade.isSilent {
            let droppedCount = ring.discard(oldCount)
            readCount = readCount &+ droppedCount
            oldCount = oldCount &- droppedCount
            isStarved = true
        }
        time.frameCount = readCount
        let storedCount = ring.heldFrames
        let available = oldCount > 0 ? min(oldCount, storedCount) : storedCount
        let isComplete = values.pointee.soundEnd.load(ordering: .acquiring) == readCount &+ storedCount
        let isLow = available < frameCount &+ fadeLength
        let isPlaying = values.pointee.isPlaying.load(ordering: .relaxed)
        if isComplete || storedCount >= frameCount &+ fadeLength &+ restartLength { isStarved = false }
        if isLow, !isComplete, oldCount <= 0, !isStarved {
            isStarved = true
            if isPlaying, !fade.isSilent { values.pointee.underrunCount.add(1, ordering: .relaxed) }
        }
        let isWanted = isPlaying && oldCount <= 0 && !isStarved && !isLow
        let gain = Float(bitPattern: values.pointee.gain.load(ordering: .relaxed))
        if fade.isSilent { volume.reset(gain) }
        // A fade-out ends before the frames do.
        fade.begin(isWanted ? 1 : 0, isWanted || available >= frameCount ? frameCount : max(1, available))
        if fade.isSilent {
            // The remaining frames of the song are fewer than a block and a fade.
            if isPlaying, isComplete, isLow, oldCount <= 0 { readCount = readCount &+ ring.discard(storedCount) }
            return 0
        }
        let count = ring.read(block, frameCount: min(frameCount, available)).frameCount
        readCount = readCount &+ count
        guard count > 0 else {
            fade.reset(0)
            return 0
        }
        fade.scale(block, count)
        volume.begin(gain, frameCount)
        if !volume.isUnity { volume.scale(block, count) }
        time.isMoving = true
        return count
    }
}
